// Package finalize has no code: its tests run an operator that rolls out components in its Finalize, on a real control
// plane whose garbage collector and namespace controller interfere.
package finalize
