// Package command is the command line of devcluster.
//
// It links no Kubernetes code: the main package passes everything that needs Kubernetes (kubectl, the check of feature
// gates, version numbers) in a Program.
package command
