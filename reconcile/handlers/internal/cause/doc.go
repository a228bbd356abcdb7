// Package cause decides why the handlers of an object are called.
package cause
