// Package connect makes the webhooks of a definition: it reads the certificates and credentials that the definition
// names.
package connect
