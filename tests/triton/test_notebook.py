"""The example notebook gives the output that stands in it."""

import tempfile
import unittest
from pathlib import Path

import notebook

EXAMPLE = Path(__file__).parents[2] / "docs/notebooks/triton.ipynb"


class Notebook(unittest.TestCase):
    """Cells, one after another."""

    def test_the_output_is_that_of_the_cells(self):
        pages = 0
        for cell, found in notebook.outputs(notebook.load(EXAMPLE)):
            with self.subTest(cell="".join(cell["source"])):
                self.assertEqual(notebook.plain(found), notebook.plain(cell["outputs"]))
            pages += sum("<iframe" in "".join(one.get("data", {}).get("text/html", "")) for one in found)
        self.assertEqual(pages, 1, "the profile shows the report's page")

    def test_kernels_of_cells_have_their_source(self):
        variables = {}
        notebook.run("import warpline.triton\nwarpline.triton.install()", 100, variables)
        text = "import triton\n\n@triton.jit\ndef nothing(x_ptr):\n    pass\n"
        notebook.run(text, 101, variables)
        path = Path(variables["nothing"].fn.__code__.co_filename)
        self.assertTrue(path.is_relative_to(tempfile.gettempdir()))
        self.assertEqual(path.read_text(), text)


if __name__ == "__main__":
    unittest.main()
