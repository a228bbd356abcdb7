// Package api compares what two moments of a module offer to those who import it, by golang.org/x/exp/apidiff.
package api
