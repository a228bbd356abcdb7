package main

import (
	"regexp"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/assert"
)

// TestLog has what the operator logs at the level info while a guestbook is created, changed and deleted: no warning, one
// line for each rollout, and none for reconciles that change nothing.
func TestLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create()
	p := w.start()
	w.settled()
	w.Merge(v1.GuestbookKind, "hello", `{"metadata":{"annotations":{"operkit.dev/reconcile-at":"now"}}}`)
	w.AwaitQuiet(t, w.operator)
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"redis":{"enabled":false}}}`)
	w.settled()
	w.Delete(v1.GuestbookKind, "hello")
	w.Eventually("it is gone", func() bool { return w.Get(v1.GuestbookKind, "hello") == nil })
	w.Eventually("the end is logged", func() bool { return strings.Contains(p.Output(), "msg=finalized") })
	var lines []string
	varies := regexp.MustCompile(`^time=\S+ |(?:server|version|reconcile|duration)=\S+ ?|object="[^"]*" `)
	for line := range strings.Lines(p.Output()) {
		lines = append(lines, strings.TrimSpace(varies.ReplaceAllString(strings.TrimSpace(line), "")))
	}
	assert.ElementsMatch(t, []string{
		`level=INFO msg="leader election is off outside of a Pod: every process of this operator works" enable="--leader-election.lock lease"`,
		`level=INFO msg=starting operator=guestbook-operator`,
		`level=INFO msg=watching kind=Guestbook`,
		`level=INFO msg=watching kind=TemporaryPatch`,
		`level=INFO msg="rolled out" created=6 objects="Secret hello-redis, Service hello-redis, StatefulSet hello-redis, ConfigMap hello-web, Service hello-web, and 1 more"`,
		`level=INFO msg="rolled out" changed=1 deleted=3 objects="Deployment hello-web, Secret hello-redis, Service hello-redis, StatefulSet hello-redis"`,
		`level=INFO msg=finalized deleted=1 objects="Deployment hello-web"`,
	}, lines)
}
