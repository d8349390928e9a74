//! The source of web sessions, from what a scenario says of it.

use super::distribution::ValueFile;
use super::error::Fault;
use super::finite_flows::{ArrivalKeys, Passing};
use super::web::{WebFile, WebModel};
use crate::distribution::{Count, Distribution};
use crate::quantity::{Kind, Quantity};
use crate::traffic::web::WebSpec;

impl Passing<'_> {
    pub(super) fn web(&self, file: &WebFile) -> Result<WebSpec, Fault> {
        let at = self.source();
        let model = file.model.map(WebModel::parameters);
        let model = model.as_ref();
        let missing = |key: &str| {
            let remedy = "add it, or a model, as in `model = \"ieee80216m\"`";
            Fault::new(&at.key(key), "is missing", remedy)
        };
        let think_time = self.value(file.think_time.as_ref(), "think_time")?;
        let main_object = self.value(file.main_object.as_ref(), "main_object")?;
        let main_object = main_object
            .or_else(|| model.map(|model| model.main_object.clone()))
            .ok_or_else(|| missing("main_object"))?;
        let parsing_time = self.value(file.parsing_time.as_ref(), "parsing_time")?;
        let embedded_object = self.value(file.embedded_object.as_ref(), "embedded_object")?;
        let embedded_objects = file.embedded_objects.as_ref();
        let embedded_objects =
            embedded_objects.map(|count| count.resolve(0, &at.key("embedded_objects")));
        let pages = file.pages.resolve(1, &at.key("pages"))?;
        let embedded_objects = embedded_objects
            .transpose()?
            .or_else(|| model.map(|model| model.embedded_objects.clone()))
            .unwrap_or(Count::Rounded(Distribution::Fixed(0.0)));
        let embedded_object = embedded_object
            .or_else(|| model.map(|model| model.embedded_object.clone()))
            .unwrap_or_else(|| main_object.clone());
        let keys = ArrivalKeys {
            load: file.load,
            load_of: file.load_of.as_deref(),
            per_second: file.arrivals_per_second,
            given: file.arrivals.as_deref(),
        };
        let arrivals = self.arrivals(keys, || {
            let embedded = embedded_objects.mean() * self.wire_bytes(&embedded_object);
            pages.mean() * (self.wire_bytes(&main_object) + embedded)
        })?;
        let (rtt, peak_rate) = self.paths()?;
        Ok(WebSpec {
            arrivals,
            pages,
            think_time: think_time
                .or_else(|| model.map(|model| model.think_time.clone()))
                .ok_or_else(|| missing("think_time"))?,
            main_object,
            parsing_time: parsing_time
                .or_else(|| model.map(|model| model.parsing_time.clone()))
                .unwrap_or(Distribution::Fixed(0.0)),
            embedded_objects,
            embedded_object,
            parallel: file.parallel,
            rtt,
            peak_rate,
            flow_log: file.flow_log as usize,
        })
    }

    fn value<K: Kind>(
        &self,
        value: Option<&ValueFile<Quantity<K>>>,
        key: &str,
    ) -> Result<Option<Distribution>, Fault> {
        value.map(|value| value.resolve(&self.source().key(key), self.cdfs())).transpose()
    }
}
