"""What the paper leaves open or for future work: its further parts."""

from tailroom.papers.barman_2004 import other_controls, other_traffic, parking_lot, sensitivity

FURTHER_PARTS = (sensitivity.PART, parking_lot.PART, other_traffic.PART, other_controls.PART)
