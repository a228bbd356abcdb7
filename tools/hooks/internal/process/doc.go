// Package process starts programs in process groups of their own, with a limit of their memory, and ends them with all
// processes of their group.
//
// A process is no prison: it runs as the same user, and may leave its group.
package process
