package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy/dryrun"
)

func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text    string
		said    []string // parts of the error, in order
		summary string
	}{
		"objects without names": {nameless + "---\n" + two + "---\n" + nameless,
			[]string{"f.yaml: document 1: ConfigMap without name: invalid manifest: ", "f.yaml: document 4: ConfigMap without name: invalid manifest: "},
			"2 created, 2 failed"},
		"something else in the folder": {"replicas: 2", []string{"f.yaml: document 1: object without kind and name: "}, "1 failed"},
		"an object twice": {two + "---\n" + two,
			[]string{"f.yaml: document 1, f.yaml: document 3: ConfigMap shop/a: invalid manifest: it is given twice"}, "4 not begun"},
		"a kind that isn't served, once": {"{items: [{apiVersion: x.example.com/v1, kind: X, metadata: {name: a}}, {apiVersion: x.example.com/v1, kind: X, metadata: {name: b}}]}",
			[]string{"f.yaml: document 1, item 1: X a: kind X of x.example.com/v1 is not served", "(and 1 more)"}, "2 failed"},
	} {
		for _, diff := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newShelf(t)
				s.diff = diff
				lines, err := s.run(t.Context(), t, row.text)
				var failed *applyError
				require.ErrorAs(t, err, &failed)
				rest := err.Error()
				for _, part := range row.said {
					_, after, found := strings.Cut(rest, part)
					assert.True(t, found, "%q isn't in %q", part, rest)
					rest = after
				}
				assert.NotContains(t, rest, "f.yaml", "nothing else is said")
				assert.Equal(t, row.summary, strings.TrimPrefix(last(lines), "would be: "))
			})
		}
	}
}

// A cluster that is lost on the way is told once, not for each object.
func TestClusterLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		require.NoError(t, s.Fail(dryrun.Fault{Code: 503}))
		lines, err := s.run(t.Context(), t, two)
		assert.Equal(t, "2 failed", last(lines))
		assert.ErrorContains(t, err, "f.yaml: document 1: ConfigMap shop/a: the cluster doesn't do it now: ")
		assert.ErrorContains(t, err, " (and 1 more)")
		assert.NotContains(t, err.Error(), "\n")
	})
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	job := "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"
	for name, row := range map[string]struct {
		text    string
		wait    bool
		fault   *dryrun.Fault
		summary string
		line    string
	}{
		"while it waits": {two + job, true, nil, "3 created", "ConfigMap shop/a created Ready"},
		"while it applies": {two, false, &dryrun.Fault{Verb: dryrun.VerbPatch, Name: "b", Latency: time.Hour}, "1 created, 1 interrupted",
			"ConfigMap shop/b interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newShelf(t)
				s.wait = row.wait
				if row.fault != nil {
					require.NoError(t, s.Fail(*row.fault))
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				lines, err := s.run(ctx, t, row.text)
				require.ErrorIs(t, err, errInterrupted)
				assert.Equal(t, errInterrupted.Error(), err.Error(), "and nothing else: no object is at fault")
				assert.Equal(t, row.summary, last(lines))
				assert.Contains(t, strings.Join(strings.Fields(strings.Join(lines, " ")), " "), row.line)
			})
		})
	}
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		lines, err := newShelf(t).run(ctx, t, two)
		require.ErrorIs(t, err, errInterrupted)
		assert.Equal(t, []string{"2 not begun"}, lines)
	})
}

func TestTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		s.timeout = time.Second
		require.NoError(t, s.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Name: "shop2", Latency: time.Hour}))
		lines, err := s.run(t.Context(), t, two+"---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop2}}")
		assert.ErrorContains(t, err, "--timeout 1s: is over, and 2 objects weren't begun")
		assert.NotErrorIs(t, err, errInterrupted)
		assert.Equal(t, "1 failed, 2 not begun", last(lines))
	})
}
