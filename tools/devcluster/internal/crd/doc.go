// Package crd loads CustomResourceDefinitions from files and installs them.
//
// Loading happens before a cluster starts, so that a broken file is reported at once. Documents of other kinds are
// ignored, since a folder of definitions often has a kustomization.yaml, too. A path without any definition is an
// error, since it is most likely the wrong path.
package crd
