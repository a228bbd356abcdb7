// Command demo shows the guestbook operator at work on a real Kubernetes API server, and checks each result: if a step
// has another result, the demo ends with an error.
//
//	go run ./examples/guestbook/demo          # from the root of the repository
//	go run ./examples/guestbook/demo --keep   # leaves the cluster up to look around
//
// It starts a control plane of its own (building the program for it, once per machine),
// runs the operator as a process with the rights of config/rbac/role.yaml, and then acts as
// a user would: apply the sample, edit it, delete an object of it by mistake, scale it,
// delete it. Pods are simulated: they are scheduled and become Ready, no container runs.
//
// It ends with a table of the time and the calls of each step, and leaves nothing behind. The exit code is 0 for
// success, 1 if a step failed, 2 for a mistake in the arguments, and 130 after an interrupt.
//
// It is also an example of using operkit's modules without an operator: package deploy applies, deletes and watches on
// behalf of the user.
package main
