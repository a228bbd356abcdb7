package leader

import (
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
)

const (
	patience = time.Minute
	// brief is the duration of Leases that a test waits for.
	brief = 4 * time.Second
	// slack is what a busy machine may add to a bound. With it a hand-over within 2 s is still told from a Lease that
	// has run out, which takes 13 s at least. Package reconcile/leader proves the bounds themselves, in a time of its own.
	slack = 10 * time.Second
)

// rights are what the documentation of the package asks for, and the right to do the work.
func rights() envtest.Option { return envtest.Rights(envtest.RolesIn("testdata/lease.yaml")) }

// written are the terms of all that was written, in the order in which the cluster stored it.
func written(t *testing.T, env *envtest.Env) []int64 {
	t.Helper()
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	all, err := api.Port().List(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, env.Namespace, deploy.ListOptions{})
	require.NoError(t, err)
	type write struct{ at, term int64 }
	var writes []write
	for _, obj := range all {
		if term, found, _ := unstructured.NestedString(obj.Object, "data", "term"); found {
			writes = append(writes, write{number(t, obj.GetResourceVersion()), number(t, term)})
		}
	}
	slices.SortFunc(writes, func(a, b write) int { return int(a.at - b.at) })
	terms := make([]int64, len(writes))
	for i, w := range writes {
		terms[i] = w.term
	}
	return terms
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// late counts the writes of a term that came after one of a later term.
func late(terms []int64) (count int) {
	highest := int64(0)
	for _, term := range terms {
		if term < highest {
			count++
		}
		highest = max(highest, term)
	}
	return count
}

// awaitWritten waits until a term has written: whoever leads says so before its first write is answered.
func awaitWritten(t *testing.T, env *envtest.Env, term int64) {
	t.Helper()
	require.Eventually(t, func() bool { return slices.Contains(written(t, env), term) }, patience, 100*time.Millisecond, "term %d writes nothing", term)
}

// wrote checks that each term wrote and that no more writes than frozen are out of order.
func wrote(t *testing.T, env *envtest.Env, terms int64, frozen int) {
	t.Helper()
	all := written(t, env)
	for term := int64(1); term <= terms; term++ {
		assert.Contains(t, all, term)
	}
	count := late(all)
	assert.LessOrEqual(t, count, frozen, "writes of one term among those of a later one")
	t.Logf("%d writes of %d terms, %d out of order", len(all), terms, count)
}

func TestLate(t *testing.T) {
	t.Parallel()
	assert.Zero(t, late([]int64{1, 1, 2, 2, 5}))
	assert.Equal(t, 2, late([]int64{1, 2, 1, 2, 1}))
}

func TestHandOver(t *testing.T) {
	t.Parallel()
	t.Run("spec watch mistake 6: SIGTERM hands over within 2 s, with the times that an operator has by default", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, rights())
		first := startProcess(t, env, 0)
		awaitLeader(t, first)
		second := startProcess(t, env, 0)
		for term := range int64(3) {
			time.Sleep(time.Second)
			awaitWritten(t, env, term+1)
			first.send(t, syscall.SIGTERM)
			start := time.Now()
			_, at := awaitLeader(t, second)
			assert.Less(t, at.Sub(start), 2*time.Second+slack)
			assert.Equal(t, "end", first.awaitEnd(t))
			wrote(t, env, term+1, 0)
			first, second = second, startProcess(t, env, 0)
		}
	})
	t.Run("spec watch 34: a leader that is killed is followed when its Lease has run out", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, rights())
		replicas := []*process{startProcess(t, env, brief), startProcess(t, env, brief), startProcess(t, env, brief)}
		for term := range int64(2) {
			leading, _ := awaitLeader(t, replicas...)
			time.Sleep(time.Second)
			awaitWritten(t, env, term+1)
			leading.send(t, syscall.SIGKILL)
			start := time.Now()
			replicas = slices.DeleteFunc(replicas, func(p *process) bool { return p == leading })
			next, at := awaitLeader(t, replicas...)
			next.leads <- at
			// The last renewal that succeeded was up to the renew deadline ago, that is two thirds of the duration.
			assert.Greater(t, at.Sub(start), brief/3, "before that the leader might have gone on")
			// A candidate looks once in a retry period.
			assert.Less(t, at.Sub(start), brief+brief/8+slack)
			wrote(t, env, term+1, 0)
		}
		awaitWritten(t, env, 3)
		for _, p := range replicas {
			p.send(t, syscall.SIGTERM)
			assert.Equal(t, "end", p.awaitEnd(t))
		}
		wrote(t, env, 3, 0)
	})
	t.Run("spec watch mistake 4: a leader that is frozen writes nothing when it goes on, but for one call in flight", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, rights())
		first := startProcess(t, env, brief)
		awaitLeader(t, first)
		for freeze := range 2 {
			second := startProcess(t, env, brief)
			time.Sleep(time.Second)
			awaitWritten(t, env, int64(freeze)+1)
			first.send(t, syscall.SIGSTOP)
			awaitLeader(t, second)
			awaitWritten(t, env, int64(freeze)+2)
			first.send(t, syscall.SIGCONT)
			assert.Contains(t, first.awaitEnd(t), "leadership lost")
			time.Sleep(500 * time.Millisecond)
			wrote(t, env, int64(freeze)+2, freeze+1)
			first = second
		}
	})
}
