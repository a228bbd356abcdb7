// Package api compares the APIs of two states of a module, by golang.org/x/exp/apidiff.
package api
