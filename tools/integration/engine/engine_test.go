package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/operkit/operkit/tools/envtest"
)

const (
	// soakVariable asks for the long history.
	soakVariable = "OPERKIT_SOAK"
	patience     = 2 * time.Minute
	mebibyte     = 1 << 20
)

// size is that of a history.
type size struct {
	// resources there are, of which changing ones change.
	resources, changing int
	idle, outage        time.Duration
}

const (
	// authors change resources at once, each with a pause between two changes.
	authors = 4
	pause   = 5 * time.Millisecond
)

func isLong() bool { return os.Getenv(soakVariable) != "" }

func sizeOf() size {
	if isLong() {
		return size{1000, 200, 2 * time.Minute, 30 * time.Second}
	}
	return size{50, 20, 10 * time.Second, 3 * time.Second}
}

// TestOperator has one operator, without a lock, see all of it: resources that are there, a while in which nothing
// happens, and changes while the control plane goes away in several ways. It never ends by itself.
func TestOperator(t *testing.T) {
	t.Parallel()
	length := sizeOf()
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"), envtest.CRDs("testdata"))
	w := newWorld(t, env, length)
	w.create()
	p := startProcess(t, env)
	w.settled()
	w.rest()
	for _, line := range p.log(0) {
		assert.NotContains(t, line, "level=WARN")
	}

	t.Run("nothing is asked for while nothing happens", func(t *testing.T) { w.idle(t, p, length.idle) })
	before := p.heap()
	for _, test := range []struct {
		name        string
		stop, start func(t testing.TB)
		away        time.Duration
		long        bool
	}{
		{"the API server is started anew", env.StopAPIServer, env.StartAPIServer, 0, true},
		{"the API server is away", env.StopAPIServer, env.StartAPIServer, length.outage, false},
		{"etcd is started anew", env.StopEtcd, env.StartEtcd, 0, true},
		{"etcd is away", env.StopEtcd, env.StartEtcd, length.outage / 3, false},
	} {
		if test.long && !isLong() {
			continue
		}
		t.Run("watch 19, 20: "+test.name, func(t *testing.T) {
			said := len(p.log(0))
			stop := w.change(t)
			time.Sleep(time.Second)
			test.stop(t)
			time.Sleep(test.away)
			test.start(t)
			back := time.Now()
			time.Sleep(time.Second)
			changes := stop()
			w.settled()
			t.Logf("SOAK engine: %s for %s: %d changes, all settled %s after it was back", test.name, test.away, changes, time.Since(back).Round(time.Millisecond))
			w.said(t, p.log(said))
		})
	}
	w.rest()
	after := p.heap()
	t.Logf("SOAK engine: heap %.1f MiB before, %.1f MiB after", float64(before)/mebibyte, float64(after)/mebibyte)
	assert.Less(t, after, before+before/5+mebibyte, "memory is back to its level")
	t.Run("nothing is asked for afterwards", func(t *testing.T) { w.idle(t, p, length.idle/5) })
	require.True(t, p.Running(), "it has run all the time")
	assert.Zero(t, p.Stop(t))
}

// world is what the operator works on, and somebody who changes it.
type world struct {
	t    *testing.T
	env  *envtest.Env
	size size
	of   map[string]dynamic.ResourceInterface
}

func newWorld(t *testing.T, env *envtest.Env, length size) *world {
	t.Helper()
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	at := func(kind schema.GroupVersionKind, plural string) dynamic.ResourceInterface {
		return client.Resource(kind.GroupVersion().WithResource(plural)).Namespace(env.Namespace)
	}
	return &world{t, env, length, map[string]dynamic.ResourceInterface{"lamps": at(lamps, "lamps"), "configmaps": at(configMaps, "configmaps")}}
}

const namePrefix = "lamp-"

func nameOf(n int) string { return fmt.Sprintf("%s%04d", namePrefix, n) }

func (w *world) create() {
	w.t.Helper()
	for n := range w.size.resources {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"light": int64(0)}}}
		obj.SetGroupVersionKind(lamps)
		obj.SetName(nameOf(n))
		_, err := w.of["lamps"].Create(w.t.Context(), obj, metav1.CreateOptions{})
		require.NoError(w.t, err)
	}
}

// change changes resources all the time, each change until it is made, until stop is called.
func (w *world) change(t *testing.T) (stop func() (changes int64)) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var changes atomic.Int64
	for range authors {
		running.Go(func() {
			for ctx.Err() == nil && w.changeOne(t) {
				changes.Add(1)
				time.Sleep(pause)
			}
		})
	}
	return func() int64 {
		cancel()
		running.Wait()
		return changes.Load()
	}
}

func (w *world) changeOne(t *testing.T) bool {
	body := fmt.Appendf(nil, `{"spec":{"light":%d}}`, rand.IntN(1_000_000))
	name := nameOf(rand.IntN(w.size.changing))
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		brief, end := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := w.of["lamps"].Patch(brief, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: "somebody"})
		end()
		if err == nil {
			return true
		}
		if !assert.True(t, time.Now().Before(deadline), "no change is possible: %v", err) {
			return false
		}
	}
}

// settled waits until each Lamp has the light that it should, and says so.
func (w *world) settled() {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		differ := w.unsettled()
		if len(differ) == 0 {
			return
		}
		require.True(w.t, time.Now().Before(deadline), "not settled: %s", strings.Join(differ, ", "))
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *world) unsettled() (differ []string) {
	wanted, err := w.of["lamps"].List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		return []string{err.Error()}
	}
	made, err := w.of["configmaps"].List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		return []string{err.Error()}
	}
	lights := map[string]string{}
	for _, obj := range made.Items {
		lights[obj.GetName()], _, _ = unstructured.NestedString(obj.Object, "data", "light")
	}
	for _, obj := range wanted.Items {
		light, _, _ := unstructured.NestedInt64(obj.Object, "spec", "light")
		if got := lights[obj.GetName()]; got != strconv.FormatInt(light, 10) {
			differ = append(differ, fmt.Sprintf("%s has %q instead of %d", obj.GetName(), got, light))
		}
		if !isReady(&obj) {
			differ = append(differ, obj.GetName()+" isn't Ready")
		}
	}
	if len(wanted.Items) != w.size.resources {
		differ = append(differ, "some are missing")
	}
	return differ
}

// isReady tells whether the status is of the present spec and says that all is done.
func isReady(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, condition := range conditions {
		c, ok := condition.(map[string]any)
		if ok && c["type"] == "Ready" && c["status"] == "True" && c["observedGeneration"] == obj.GetGeneration() {
			return true
		}
	}
	return false
}

// rest waits until the operator has nothing more to do: it asks for nothing for two seconds.
func (w *world) rest() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		mark := w.env.Mark(w.t)
		time.Sleep(2 * time.Second)
		return len(w.env.CallsSince(w.t, mark)) == 0
	}, patience, time.Millisecond)
}

// idle checks that the operator asks for nothing but watches, for so long.
func (w *world) idle(t *testing.T, p *process, lasts time.Duration) {
	t.Helper()
	w.rest()
	mark := w.env.Mark(t)
	_, before := p.usage()
	time.Sleep(lasts)
	resident, after := p.usage()
	calls := w.env.CallsSince(t, mark)
	t.Logf("SOAK engine: idle for %s with %d resources: RSS %.1f MiB, processor %s, %d calls, of which %d watches",
		lasts, w.size.resources, float64(resident)/mebibyte, after-before, len(calls), len(calls.Watches()))
	assert.Equal(t, len(calls.Watches()), len(calls), "%v", calls.Count())
	assert.LessOrEqual(t, len(calls), 2*int(lasts/time.Minute)+2, "a watch lasts minutes")
	assert.Less(t, after-before, lasts/50, "it sleeps")
}

var (
	message = regexp.MustCompile(`level=(?:WARN|ERROR) msg=(?:"[^"]*"|\S+)(?: (?:kind|object)=(?:"[^"]*"|\S+))?`)
	id      = regexp.MustCompile(` reconcile=\S+`)
	subject = regexp.MustCompile(` object=.*`)
)

// mostOfOne is how often one resource may be said to be in trouble: an API server that has just started may refuse what
// it allows a moment later.
const mostOfOne = 3

// said checks that trouble is told once for each kind that is watched, and not all the time of resources that were in
// work then.
func (w *world) said(t *testing.T, lines []string) {
	t.Helper()
	counts, each := map[string]int{}, map[string]int{}
	for _, line := range lines {
		if found := message.FindString(id.ReplaceAllString(line, "")); found != "" {
			counts[subject.ReplaceAllString(found, "")]++
			each[found]++
		}
	}
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("SOAK engine: said %d times: %s", counts[text], text)
	}
	for text, times := range each {
		most := mostOfOne
		if strings.Contains(text, " kind=") {
			most = 1
		}
		assert.LessOrEqual(t, times, most, text)
	}
}
