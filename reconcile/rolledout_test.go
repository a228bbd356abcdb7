package reconcile

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// ended returns the lines of the log about rollouts that have ended, without the attributes that all lines have.
func (w *world) ended() (lines []string) {
	about := regexp.MustCompile(`level=INFO msg="?(rolled out|finalized)"? .*? reconcile=\w+ (.*)`)
	for _, found := range about.FindAllStringSubmatch(w.logs.String(), -1) {
		lines = append(lines, found[1]+": "+found[2])
	}
	return lines
}

func TestRolloutIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := 2
	disabled := false
	r := w.reconciler(&finalizing{controller: controller{func(_ context.Context, s *Session) error {
		room := s.Add("room")
		for i := range many {
			room.Add("", configMap(fmt.Sprint("c", i)))
		}
		room.After(s.Add("web", deployment("web")), Ready)
		if s.Add("old", configMap("old")); disabled {
			s.Component("old").Disable()
		}
		return nil
	}}, finalize: func(ctx context.Context, s *Session) error { return s.Remove(ctx, deployment("web")) }})
	for _, row := range []struct {
		why    string
		change func()
		want   string
	}{
		{"log 1: it waits", func() {}, ""},
		{"log 1: a minute later it has ended: one line with what all of its reconciles wrote",
			func() { w.clock.advance(time.Minute); w.makeReady("web") }, `rolled out: created=4 objects="Deployment web, ConfigMap old, ConfigMap c0, ConfigMap c1" duration=1m1s`},
		{"log 1: nothing changes", func() {}, ""},
		{"log 1: objects that change, that are pruned and that are switched off, and no more than five names",
			func() { many, disabled = 7, true; w.merge(configMapRef("c0"), `{"data":null}`) }, `rolled out: created=5 changed=1 deleted=1 objects="ConfigMap c0, ConfigMap c2, ConfigMap c3, ConfigMap c4, ConfigMap c5, and 2 more" duration=0s`},
		{"log 1: pruned", func() { many = 6 }, `rolled out: deleted=1 objects="ConfigMap c6" duration=0s`},
		{"log 1: to become ready without a write is no rollout",
			func() { w.mergeStatus(deploymentRef("web"), `{"status":{"readyReplicas":0}}`) }, ""},
		{"log 1: ready again", func() { w.makeReady("web") }, ""},
		{"log 1: the end of a deletion is one too", func() { w.delete(widgetRef) }, `finalized: deleted=1 objects="Deployment web" duration=0s`},
	} {
		t.Run(row.why, func(t *testing.T) { // one after the other
			row.change()
			before := len(w.ended())
			_, _, _ = w.once(r)
			assert.Equal(t, row.want, strings.Join(w.ended()[before:], "; "))
		})
	}
}
