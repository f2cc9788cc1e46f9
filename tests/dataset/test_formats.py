"""Formats of other tools, read by the tools where they can be had, else checked against their own descriptions."""

import json
import unittest
from collections import Counter

from common import profile, report

try:
    import hatchet
    import thicket
except ImportError:
    # Hatchet has no wheel for Python 3.13.
    hatchet = thicket = None


def sectors():
    """Of global, local and constant memory."""
    return sum(site["metrics"]["sectors"] for site in profile()["sites"] if site["space"] != "shared")


@unittest.skipUnless(hatchet, "Hatchet has no wheel for this Python")
class Hatchet(unittest.TestCase):
    def frame(self, file="demo.wlprof"):
        return hatchet.GraphFrame.from_literal(json.loads(report(file, "hatchet")))

    def test_hatchet_reads_the_tree(self):
        frame = self.frame()
        table = frame.dataframe
        self.assertEqual(table["sectors"].sum(), sectors())
        roots = [node for node in frame.graph.roots]
        self.assertEqual(sum(table.loc[node, "sectors (inc)"] for node in roots), sectors())
        kernel = profile()["kernels"][0]["name"]
        self.assertTrue(any(name.startswith(kernel) for name in table["name"]), list(table["name"]))
        # What a caller costs in all is its own and its callees'.
        for node in frame.graph.traverse():
            below = sum(table.loc[child, "sectors (inc)"] for child in node.children)
            self.assertEqual(table.loc[node, "sectors (inc)"], table.loc[node, "sectors"] + below)

    def test_hatchet_compares(self):
        frame = self.frame()
        self.assertEqual((frame - frame.deepcopy()).dataframe["sectors"].abs().sum(), 0)

    def test_thicket_puts_ranks_together(self):
        frames = []
        for rank in range(3):
            file = f"rank.{rank}.wlprof"
            frame = self.frame(file)
            frame.metadata = {"rank": rank}
            frames.append(thicket.Thicket.thicketize_graphframe(frame, file))
        both = thicket.Thicket.concat_thickets(thickets=frames, axis="index")
        self.assertEqual(sorted(both.metadata["rank"]), [0, 1, 2])
        self.assertEqual(both.dataframe["sectors"].sum(), 3 * sectors())
        thicket.stats.mean(both, ["sectors"])
        self.assertEqual(both.statsframe.dataframe["sectors_mean"].sum(), sectors())


class Perfetto(unittest.TestCase):
    def trace(self, *files):
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

        trace = Trace()
        # Of several ranks, the files one behind the other.
        trace.MergeFromString(b"".join(report(file, "perfetto") for file in files))
        return trace

    def checked(self, *files):
        """Events by the name of their track, after what Perfetto takes for granted."""
        trace = self.trace(*files)
        tracks, events, open_slices, last = {}, [], Counter(), {}
        for packet in trace.packet:
            self.assertTrue(packet.trusted_packet_sequence_id)
            # Nothing that Perfetto's own description does not know.
            self.assertEqual(packet.SerializeToString(), type(packet).FromString(packet.SerializeToString()).SerializeToString())
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                self.assertNotIn(track.uuid, tracks)
                self.assertTrue(track.HasField("process") or track.parent_uuid in tracks)
                tracks[track.uuid] = track
                continue
            event = packet.track_event
            self.assertIn(event.track_uuid, tracks)
            self.assertGreaterEqual(packet.timestamp, last.get(packet.trusted_packet_sequence_id, 0))
            last[packet.trusted_packet_sequence_id] = packet.timestamp
            open_slices[event.track_uuid] += {event.TYPE_SLICE_BEGIN: 1, event.TYPE_SLICE_END: -1}.get(event.type, 0)
            self.assertGreaterEqual(open_slices[event.track_uuid], 0)
            events.append((tracks[event.track_uuid], packet.timestamp, event))
        self.assertFalse(+open_slices, "every slice ends")
        return tracks, events

    def test_launches_copies_and_allocations(self):
        tracks, events = self.checked("demo.wlprof")
        begins = [(track.name, event.name) for track, _, event in events if event.type == event.TYPE_SLICE_BEGIN]
        launches = sum(len(kernel["launches"]) for kernel in profile()["kernels"])
        self.assertEqual(sum(track.startswith("stream") for track, _ in begins), launches)
        names = {one["name"] for one in profile()["allocations"] if "lifetime" in one and one["name"]}
        self.assertTrue(names)
        self.assertLessEqual(names, {event for _, event in begins})
        copies = [copy for one in profile()["allocations"] for copy in one["copies"]]
        self.assertEqual(any(track.startswith("copies: ") for track, _ in begins), bool(copies))
        [process] = [track for track in tracks.values() if track.HasField("process")]
        self.assertIn("no time", process.process.process_name)
        counter = [event.counter_value for _, _, event in events if event.type == event.TYPE_COUNTER]
        sizes = [one["bytes"] for one in profile()["allocations"] if "lifetime" in one]
        self.assertEqual(max(counter), sum(sizes))

    def test_ranks_are_processes(self):
        tracks, _ = self.checked("rank.0.wlprof", "rank.1.wlprof", "rank.2.wlprof")
        processes = [track.process for track in tracks.values() if track.HasField("process")]
        self.assertEqual(sorted(process.pid for process in processes), [1, 2, 3])
        self.assertIn("rank 2 on node2", sorted(process.process_name for process in processes)[2])


class Stacks(unittest.TestCase):
    def test_folded(self):
        lines = report("demo.wlprof", "folded").decode().splitlines()
        self.assertTrue(lines)
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), sectors())
        self.assertEqual(len({line.rpartition(" ")[0] for line in lines}), len(lines))
        requests = report("demo.wlprof", "folded", "--metric", "requests").decode().splitlines()
        expected = sum(site["metrics"]["requests"] for site in profile()["sites"])
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in requests), expected)

    def test_speedscope(self):
        """The rules of https://www.speedscope.app/file-format-schema.json for sampled profiles, and of its importer."""
        file = json.loads(report("demo.wlprof", "speedscope", "--metric", "bytes"))
        self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
        self.assertLessEqual(set(file), {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"})
        frames = file["shared"]["frames"]
        for frame in frames:
            self.assertLessEqual(set(frame), {"name", "file", "line", "col"})
            self.assertIsInstance(frame["name"], str)
        units = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}
        for one in file["profiles"]:
            self.assertEqual(set(one), {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
            self.assertEqual(one["type"], "sampled")
            self.assertIn(one["unit"], units)
            self.assertEqual(len(one["samples"]), len(one["weights"]))
            self.assertTrue(all(0 <= index < len(frames) for sample in one["samples"] for index in sample))
            self.assertEqual(one["endValue"] - one["startValue"], sum(one["weights"]))
        shown = file["profiles"][file["activeProfileIndex"]]
        self.assertEqual(shown["unit"], "bytes")
        self.assertEqual(sum(shown["weights"]), sum(site["metrics"]["bytes"] for site in profile()["sites"]))


if __name__ == "__main__":
    unittest.main()
