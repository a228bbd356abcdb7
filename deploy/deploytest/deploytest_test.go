package deploytest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCases(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range Cases() {
		family, rest, _ := strings.Cut(c.Name, "/")
		assert.NotEmpty(t, family, c.Name)
		assert.NotEmpty(t, rest, c.Name)
		assert.False(t, known[c.Name], "%s is there twice", c.Name)
		assert.NotEmpty(t, c.Reason, c.Name)
		assert.NotNil(t, c.run, c.Name)
		known[c.Name] = true
	}
	assert.NotEmpty(t, known)
}

// verdict is a tester that only takes down what is reported.
type verdict struct {
	ctx      context.Context
	problems []string
}

func (v *verdict) Context() context.Context { return v.ctx }
func (v *verdict) Helper()                  {}

func (v *verdict) Errorf(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

// judge runs one case on a cluster in memory that was broken, and returns what it reports.
func judge(t *testing.T, name string, broken func(deploy.Cluster) deploy.Cluster) []string {
	t.Helper()
	memory, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.CollectUnknownOwners())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	v := &verdict{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range Cases() {
			if c.Name == name {
				selecting := memory.Selected(SelectedKind, Selector(), nil)
				c.runIn(v, World{Cluster: broken(selecting), Namespace: "shop", Others: memory, Selects: true}, 2*time.Second)
				return
			}
		}
		v.Errorf("there is no case %q", name)
	}()
	<-done
	cancel()
	memory.Wait()
	return v.problems
}

// A cluster that breaks a single thing doesn't pass.
func TestBrokenClusters(t *testing.T) {
	t.Parallel()
	for what, test := range breakages {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			whole := judge(t, test.caught, func(c deploy.Cluster) deploy.Cluster { return cluster{c.Port(), c.View()} })
			require.Empty(t, whole, "%s passes while nothing is broken", test.caught)
			assert.NotEmpty(t, judge(t, test.caught, test.broken), "%s doesn't notice it", test.caught)
		})
	}
}
