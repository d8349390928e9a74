/** The document that the page exports: what it shows. */

import type { Summary } from "../engine/engine";
import type { FrontierView } from "../frontier/frontier_view";
import type { Bottleneck } from "../rules/bottleneck";
import { limitTexts } from "../rules/buffer_units";
import { PRESETS } from "../scenario/presets";
import type { Reading } from "../scenario/reading";
import { LiveView } from "../see/live_view";
import type { State } from "../state";
import type { TradeOffView } from "../study/trade_off_view";
import type { PageDocument } from "./document";
import { isOwnMachine } from "./own_machine";

export function documentOf(page: {
  reading: Reading;
  link: Bottleneck;
  state: State;
  build: string;
  summary: Summary | null;
  verdict: string;
  live: LiveView;
  frontier: FrontierView;
  tradeOff: TradeOffView;
}): PageDocument {
  const { reading, link, state, build, summary, verdict, live, frontier, tradeOff } = page;
  const title = reading.scenario["title"];
  return {
    title: typeof title === "string" ? title : "tailroom",
    name: PRESETS.find(({ text }) => text === state.text)?.name ?? "scenario",
    parts: [
      {
        title: `Buffer of “${link.name}”`,
        texts: [
          limitTexts(link, link.buffer.steps).join(", "),
          verdict,
          summary ? LiveView.words(summary, link.name) : "",
        ],
        pictures: live.pictures,
        table: live.table,
      },
      {
        title: "What each buffer costs",
        texts: [tradeOff.status],
        pictures: [...frontier.pictures, ...tradeOff.pictures],
        table: tradeOff.table,
      },
    ],
    scenario: state.text,
    hash: reading.hash,
    build,
    address: isOwnMachine(window.location.href) ? "" : window.location.href,
  };
}
