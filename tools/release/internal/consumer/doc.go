// Package consumer uses published modules as their users do: it fetches one into an empty module, builds it, writes a
// program that calls it, and runs its tests from the module cache. Nothing of the repository can be reached: neither
// go.work, nor the folder of a sibling, nor a file outside of the module.
package consumer
