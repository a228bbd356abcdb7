package versions_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// steps are the specs that a resource goes through; at nil it is deleted.
type steps []map[string]any

func newSteps(r *rand.Rand) (all steps) {
	maybe := func(value any) any { return []any{value, nil}[r.IntN(2)] }
	for range 3 + r.IntN(3) {
		spec := map[string]any{"version": []string{"1.0.0", "1.1.0"}[r.IntN(2)]}
		for field, value := range map[string]any{"workload": maybe(true), "judged": maybe(true), "lock": maybe("key"), "gone": maybe("yes")} {
			if value != nil {
				spec[field] = value
			}
		}
		all = append(all, spec)
	}
	if r.IntN(4) == 0 {
		all = append(all, nil)
	}
	return all
}

// Resources of two versions change, are upgraded and deleted while processes are killed at random moments: in the end all is as it would be
// without other processes, and nothing was ever deleted that a version wants.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			lives := map[string]steps{}
			for i := range 6 + r.IntN(4) {
				lives[fmt.Sprint("h", i)] = newSteps(r)
			}
			pool := start(t, folder(t, "house", "1.0.0", "1.1.0"))
			byChildren := newWorld(t, pool.Controllers()[0])
			calls := byChildren.memory.Record()
			stop := killing(t, r.Uint64(), func() (pids []int) {
				for _, report := range pool.Report() {
					if report.Running && report.InUse > 0 { // in the middle of something
						pids = append(pids, report.PID)
					}
				}
				return pids
			})
			byChildren.live(t, lives)
			kills := stop()
			byChildren.settle(t, lives)
			t.Logf("%d kills, %d starts", kills, of(t, pool, "1.0.0").Starts+of(t, pool, "1.1.0").Starts)
			assert.Positive(t, kills)

			here := newWorld(t, anyHouse{})
			here.live(t, lives)
			here.settle(t, lives)
			assert.Equal(t, here.contents(), byChildren.contents())
			assertDeletions(t, calls.Calls(), lives)
		})
	}
}

// anyHouse is all versions in one controller.
type anyHouse struct{ House }

// Setup implements reconcile.Controller.
func (anyHouse) Setup(ctx context.Context, s *reconcile.Session) error {
	return House{s.Version()}.Setup(ctx, s)
}

// live has each resource go through its steps, all at once.
func (w *world) live(t *testing.T, lives map[string]steps) {
	t.Helper()
	w.put(t, configMap("key", nil))
	var all sync.WaitGroup
	for name, specs := range lives {
		all.Go(func() {
			for _, spec := range specs {
				if spec == nil {
					assert.NoError(t, w.memory.Port().Delete(t.Context(), deploy.Ref{Kind: houses, Namespace: "test", Name: name}, deploy.DeleteOptions{}))
				} else {
					w.put(t, house(name, spec))
				}
				for attempt := range 5 {
					_, _ = w.reconcile(t.Context(), name, attempt)
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
}

// settle reconciles all until nothing more changes.
func (w *world) settle(t *testing.T, lives map[string]steps) {
	t.Helper()
	for range 5 {
		for name := range lives {
			require.NoError(t, w.persist(t.Context(), name))
		}
		for _, obj := range w.memory.Objects() { // what the cluster does with workloads, and somebody with what is judged
			patch := deploy.PatchRequest{Type: types.MergePatchType, FieldManager: "somebody"}
			switch {
			case obj.GetKind() == "Deployment":
				patch.Subresource = "status"
				patch.Body = fmt.Appendf(nil, `{"status":{"observedGeneration":%d,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,
					"conditions":[{"type":"Available","status":"True"}]}}`, obj.GetGeneration())
			case obj.GetKind() == "ConfigMap" && obj.GetName() != "key":
				patch.Body = []byte(`{"data":{"blessed":"yes"}}`)
			default:
				continue
			}
			_, err := w.memory.Port().Patch(t.Context(), deploy.RefOf(obj), patch)
			require.NoError(t, err)
		}
	}
}

// contents are all objects, but for what tells two clusters apart.
func (w *world) contents() map[string]any {
	contents := map[string]any{}
	for _, obj := range w.memory.Objects() {
		content := map[string]any{"labels": obj.GetLabels(), "finalizers": obj.GetFinalizers(), "data": obj.Object["data"], "spec": obj.Object["spec"]}
		status, _ := obj.Object["status"].(map[string]any)
		content["components"], content["versions"] = status["componentStatus"], status["versions"]
		for _, owner := range obj.GetOwnerReferences() {
			content["owner"] = owner.Kind + " " + owner.Name
		}
		contents[deploy.RefOf(obj).String()] = content
	}
	return contents
}

// killing kills processes at random moments until it is told to stop, and then says how many.
func killing(t *testing.T, seed uint64, running func() []int) (stop func() int) {
	r := rand.New(rand.NewPCG(seed, 4))
	var kills atomic.Int64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(r.IntN(3000)) * time.Microsecond):
			}
			if pids := running(); len(pids) > 0 {
				kill(t, pids[r.IntN(len(pids))])
				kills.Add(1)
			}
		}
	}()
	return func() int {
		close(done)
		<-ended
		return int(kills.Load())
	}
}

// rendered are the objects of a resource with a spec.
func rendered(name string, spec map[string]any) map[string]bool {
	objects := map[string]bool{}
	if spec == nil {
		return objects
	}
	objects[name+"-base"] = true
	objects[name+map[any]string{"1.0.0": "-cellar", "1.1.0": "-attic"}[spec["version"]]] = true
	for field, these := range map[string][]string{"workload": {"web", "door"}, "judged": {"sign"}, "lock": {"safe"}} {
		for _, one := range these {
			objects[name+"-"+one] = spec[field] != nil
		}
	}
	return objects
}

// assertDeletions looks for objects that were deleted although each spec that their resource had since they could exist has them.
func assertDeletions(t *testing.T, calls []dryrun.Call, lives map[string]steps) {
	t.Helper()
	may := map[string]bool{}
	for name, specs := range lives {
		for _, object := range []string{"base", "cellar", "attic", "web", "door", "sign", "safe"} {
			seen := false
			for _, spec := range specs {
				has := rendered(name, spec)[name+"-"+object]
				may[name+"-"+object] = may[name+"-"+object] || seen && !has
				seen = seen || has
			}
		}
	}
	for _, call := range calls {
		if call.Verb == dryrun.VerbDelete && call.Ref.Kind != houses {
			assert.True(t, may[call.Ref.Name], "%s was deleted although it was wanted all the time", call.Ref)
		}
	}
}
