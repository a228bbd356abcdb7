package main

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/envtest/audit"
)

// asked returns a text with the operator's requests.
func asked(calls audit.Calls) string {
	text := "made " + count(len(calls.Reads()), "read") + ", " + count(len(calls.Writes()), "write")
	if writes := targets(calls.Writes()); len(writes) > 0 {
		text += ": " + strings.Join(writes, ", ")
	}
	return text
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// conclude prints the results of all steps, with the table at the end.
func (d *demo) conclude() {
	n := d.narrator
	n.show(nil)
	n.say("")
	n.say("API calls are those of user %s, counted from the audit log.", operatorUser)
	n.say("Its %d watches, through which it sees the cluster, are not among them.", d.watches)
	n.say("")
	for _, line := range summary(d.rows) {
		n.say("%s", line)
	}
}

// tellHowToLookAround prints commands to try on the cluster, which stays up, from the repository's root.
func (d *demo) tellHowToLookAround() {
	n := d.narrator
	kubectl := "go run ./tools/envtest/cmd/devcluster kubectl --dir " + d.plane.dir()
	n.say("")
	n.say("The cluster stays up. Look around:")
	// Not wrapped: a broken line can't be pasted.
	n.lines([]string{
		"  " + kubectl + " get guestbooks,deployments,statefulsets,services,configmaps,secrets,pods",
		"  " + kubectl + " describe guestbook " + d.board.ref.Name,
	})
	if d.operator != nil {
		n.say("The operator is stopped. Run it again, to see what it does when you edit or delete:")
		n.lines([]string{"  go run ./examples/guestbook run --kubeconfig " + d.path("operator.kubeconfig")})
	}
	n.say("Take all of it down:")
	n.lines([]string{"  go run ./tools/envtest/cmd/devcluster down --dir " + d.plane.dir() + " && rm -r " + d.work})
}
