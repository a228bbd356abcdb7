// Package component names the parts of a cluster and knows which of them need which.
//
// Use it wherever a component is named: flags, state, logs. It starts nothing; package cluster does.
package component
