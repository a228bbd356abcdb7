package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rehearsal is a demo without a cluster, whose operator hasn't ended.
func rehearsal(out *bytes.Buffer) *demo {
	return &demo{
		narrator: newNarrator(out, screen{}, newClock().now), feed: newFeed(), board: newBoard(sampleRef),
		operator: &operatorProcess{ended: make(chan struct{}), log: "/dev/null"},
	}
}

func TestUntilEndsWithTheEventThatMakesItTrue(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := rehearsal(&out)
	go func() {
		for _, event := range story()[:9] {
			d.feed.put(event)
		}
	}()
	require.NoError(t, d.until(t.Context(), func(b *board) string { return b.lacksReady(1) }))
	assert.Contains(t, out.String(), "guestbook  Ready=True at generation 1\n")
}

func TestUntilSaysWhatDidNotComeTrue(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := rehearsal(&out)
	d.feed.put(story()[0])
	late := errors.New("it didn't come true within 1m0s")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	err := d.until(ctx, func(b *board) string { return b.lacksReady(1) })
	require.ErrorIs(t, err, late)
	assert.EqualError(t, err, "waited until Guestbook default/hello is ready at generation 1; "+
		"redis unverified: StatefulSet hello-redis: InProgress (0 of 1 replicas are ready); "+
		"web unstarted: waits for redis (its gate is closed): it didn't come true within 1m0s")
	assert.EqualError(t, d.explain(ctx, err), err.Error()+"\nthe end of the operator's log:\n  (nothing)")
}

func TestUntilEndsWithTheOperator(t *testing.T) {
	t.Parallel()
	d := rehearsal(&bytes.Buffer{})
	d.operator.err = errors.New("exit status 1")
	close(d.operator.ended)
	err := d.until(t.Context(), func(*board) string { return "nothing" })
	assert.EqualError(t, err, "the operator ended by itself: exit status 1")
}

func TestUntilEndsWithAnEventThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := rehearsal(&bytes.Buffer{})
	strange := book(1, "", nil)
	strange.Object["spec"] = fields{"size": "large"}
	d.feed.put(deploy.Event{Type: deploy.Added, New: strange})
	err := d.until(t.Context(), func(*board) string { return "" })
	assert.ErrorContains(t, err, "Guestbook default/hello: ")
}

func TestInterruptIsNotBlamedOnTheOperator(t *testing.T) {
	t.Parallel()
	d := rehearsal(&bytes.Buffer{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	err := d.explain(ctx, errors.New("list: gave up"))
	assert.EqualError(t, err, "interrupt signal received: list: gave up")
}

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newBoard(sampleRef)
	assert.Empty(t, b.lacksEnd(), "nothing was there")
	assert.Equal(t, "Guestbook default/hello is ready at generation 1", b.lacksReady(1))
	for _, event := range story()[:9] {
		_, err := b.observe(event)
		require.NoError(t, err)
	}
	assert.Empty(t, b.lacksReady(1))
	assert.Equal(t, "Guestbook default/hello is ready at generation 2", b.lacksReady(2), "an older generation is ready")
	assert.Equal(t, "Guestbook default/hello is gone", b.lacksEnd())
	_, err := b.observe(deploy.Event{Type: deploy.Deleted, New: book(1, "", nil)})
	require.NoError(t, err)
	assert.Equal(t, "its last 5 objects and Pods are gone", b.lacksEnd())
}

func TestTargets(t *testing.T) {
	t.Parallel()
	calls := audit.Calls{
		{Verb: "patch", Resource: "configmaps", Name: "hello-web", Code: 200},
		{Verb: "patch", Resource: "guestbooks", Subresource: "status", Name: "hello", Code: 200},
		{Verb: "list", Resource: "secrets", Code: 200},
		{Verb: "patch", Resource: "guestbooks", Subresource: "status", Name: "hello", Code: 200},
		{Verb: "delete", Resource: "services", Name: "hello-web", Code: 404},
		{Verb: "watch", Resource: "services", Code: 200},
		{Verb: "create", Resource: "events", Name: "hello.18ea6f6bea9c18b8", Code: 201},
		{Verb: "create", Resource: "events", Name: "hello.18ea6f6bea9c18b9", Code: 201},
	}
	assert.Equal(t, "made 1 read, 6 writes: configmaps hello-web, guestbooks/status hello (2 times), services hello-web, events (2 times)", asked(calls))
	assert.Equal(t, "made 0 reads, 0 writes", asked(nil))
	require.NoError(t, exactly("configmaps hello-web")(calls), "what was refused changed nothing, the guestbook is no child")
	assert.EqualError(t, exactly()(calls), `the operator wrote ["configmaps hello-web"], and should have written []`)
	assert.EqualError(t, exactly("configmaps hello-web", "secrets hello-redis")(calls),
		`the operator wrote ["configmaps hello-web"], and should have written ["configmaps hello-web" "secrets hello-redis"]`)
}
