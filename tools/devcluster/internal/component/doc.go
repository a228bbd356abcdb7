// Package component names the parts of a cluster and knows which of them need which.
//
// Use it for the names of components in flags, state and logs. Package cluster starts the components.
package component
