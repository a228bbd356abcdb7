// Package build builds the devcluster program from its source, once per machine.
//
// [Finder] finds the folder of the source. [Builder] returns the program from the cache, or builds it. Only one process
// builds at a time, and a preflight check first lists everything that the machine lacks. The settings of the build are
// in the source folder (build.env), so that builds by hand, the program's tests and this package share one build cache.
package build
