// Package mortal kills a process at one of its writes, for tests that prove that nothing is lost then.
package mortal
