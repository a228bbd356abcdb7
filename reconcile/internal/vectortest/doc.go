// Package vectortest runs behaviour that was recorded from other systems, for the tests of a style and its rooms.
package vectortest
