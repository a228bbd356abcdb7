// Package consumer does with published modules what those do who use them: fetch one into an empty module, build it,
// write a program that calls it, run its tests from the module cache. Nothing of the repository is in reach: not
// go.work, not the folder of a sibling, not a file beside the module.
package consumer
