// Package crd loads CustomResourceDefinitions from files and installs them.
//
// Loading happens before a cluster starts, so that a broken file is reported at once. Documents of
// other kinds are passed over (a folder of definitions often holds a kustomization.yaml too); a path
// without any definition is an error, since it is most likely the wrong one.
package crd
