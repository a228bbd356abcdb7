// Package build makes the devcluster program from its source, once per machine.
//
// [Finder] finds the folder of the source. [Builder] returns the program for it: the cached one or a new one, which it
// builds behind a lock between processes, after a preflight that lists everything that is missing. The source folder
// itself has the settings of the build (build.env), so that a build by hand, its tests and a build here share one build
// cache.
package build
