package reconcile

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAroundComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type key struct{}
	var mu sync.Mutex
	var steps []string
	note := func(text string) { mu.Lock(); defer mu.Unlock(); steps = append(steps, text) }
	through := func(name string) Option {
		return AroundComponents(func(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error {
			outer, _ := ctx.Value(key{}).(string)
			note(outer + ">" + name + " " + string(step) + " " + c.Name())
			err := do(context.WithValue(ctx, key{}, name))
			if err != nil {
				note(name + " " + c.Name() + ": " + err.Error())
			}
			return err
		})
	}
	setup := adding(func(s *Session) {
		s.Add("room", configMap("c"))
		s.Add("web", deployment("web")).After(s.Component("room"))
	})
	r := w.reconciler(setup, through("outer"), through("inner"), Concurrency(0))
	w.calm(r)
	assert.Equal(t, []string{
		">outer deploy room", "outer>inner deploy room", ">outer deploy web", "outer>inner deploy web",
		">outer verify room", "outer>inner verify room", ">outer verify web", "outer>inner verify web",
		"inner web: Deployment web: InProgress (the controller hasn't observed the object yet)",
		"outer web: Deployment web: InProgress (the controller hasn't observed the object yet)",
	}, steps)
	w.refuse = refusing(&deploy.UnavailableError{Err: errors.New("down")}, "apply Deployment shop/web")
	w.delete(deploymentRef("web"))
	steps = nil
	_, _, err := w.once(r)
	require.ErrorContains(t, err, "down")
	assert.NotContains(t, steps, "outer>inner verify web", "what isn't deployed isn't verified")

	_, err = New(setup, must(deploy.NewManager(w)), AroundComponents(nil))
	require.EqualError(t, err, "around components: nil function")
}
