// Package command is the command hooks: its flags, and the operator that it runs.
package command
