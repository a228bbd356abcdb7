// Package vectortest runs behaviour that was recorded from kopf, for the tests of the packages around it.
package vectortest
