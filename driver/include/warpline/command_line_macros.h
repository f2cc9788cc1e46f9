// Macros of the command line that the headers read before a source must not see. warpline-cc supplies this file's text for
// each compilation.
