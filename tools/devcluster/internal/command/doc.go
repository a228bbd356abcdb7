// Package command is the command line of devcluster.
//
// It links no Kubernetes code: what needs it (kubectl, the check of feature gates, version numbers)
// is handed in by the main package as a Program.
package command
