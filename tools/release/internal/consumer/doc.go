// Package consumer uses published modules as their users do: it requires a module from an empty one, builds it, writes
// a program that calls it, and runs its tests from the module cache. Tests can't reach the repository: neither go.work,
// nor the folders of other modules, nor a file outside of the module.
package consumer
