// Package build makes the devcluster program from its source, once per machine.
//
// [Finder] finds the folder of the source, [Builder] returns the program that belongs to it: the cached one, or a new
// one behind a lock between processes, after a preflight that lists everything that is missing at once. How the
// program is compiled is written in the source folder itself (build.env), so that whoever compiles it there by hand,
// tests it or builds it here shares one build cache.
package build
