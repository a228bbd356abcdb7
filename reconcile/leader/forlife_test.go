package leader

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var lockRef = deploy.Ref{Kind: configMapKind, Namespace: "shop", Name: "op"}

func pod(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "shop", "uid": "uid-of-" + name},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
	}}
}

func ownedBy(pods ...string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "op", "namespace": "shop"},
	}}
	var owners []metav1.OwnerReference
	for _, name := range pods {
		owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID("uid-of-" + name)})
	}
	obj.SetOwnerReferences(owners)
	return obj
}

// newForLife is a replica in the Pod of that name.
func newForLife(t *testing.T, cluster deploy.Cluster, name string) *replica {
	t.Helper()
	r := newReplica(t, cluster, name)
	elector, err := ForLife(r.wire, "shop/op", Identity(name), Logger(slog.New(slog.NewTextHandler(r.log, nil))))
	require.NoError(t, err)
	r.Elector = elector
	return r
}

func TestForLife(t *testing.T) {
	t.Parallel()
	t.Run("spec watch 33: the ConfigMap has one owner, the Pod, and is never given up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, pod("a"), pod("b"))
			first := newForLife(t, cluster, "a").start(t)
			assert.Zero(t, leadsAfter(t, first))
			assert.Equal(t, Term{Holder: "a", Lost: first.term.Lost}, first.term)
			obj, err := cluster.Port().Get(t.Context(), lockRef)
			require.NoError(t, err)
			assert.Equal(t, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "uid-of-a"}}, obj.GetOwnerReferences())
			second := newForLife(t, cluster, "b").start(t)
			time.Sleep(5 * time.Minute)
			_ = ends(first)
			time.Sleep(5 * time.Minute)
			assert.False(t, second.Leading(), "the Pod is still there")
			again := newForLife(t, cluster, "a").start(t)
			assert.Zero(t, leadsAfter(t, again), "a container that was started again leads on")
			assert.Equal(t, []string{"get", "get"}, again.wire.sent())
			_ = ends(again)
			require.NoError(t, cluster.Port().Delete(t.Context(), deploy.Ref{Kind: podKind, Namespace: "shop", Name: "a"}, deploy.DeleteOptions{}))
			within(t, leadsAfter(t, second), 0, 1200*time.Millisecond, "the garbage collection of the Pod frees it")
			_ = ends(second)
			assert.NotContains(t, first.log.String(), "released")
		})
	})
	for _, row := range []struct {
		reason string
		lock   *unstructured.Unstructured
		want   string
	}{
		{"spec watch 33: another Pod owns it", ownedBy("b"), "leader=b"},
		{"spec watch 33: two owners, of which one is ours", ownedBy("a", "b"), "the ConfigMap has 2 owners"},
		{"spec watch 33: no owner", ownedBy(), "the ConfigMap has 0 owners"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t, pod("a"), pod("b"), row.lock)
				r := newForLife(t, cluster, "a").start(t)
				time.Sleep(5 * time.Minute)
				assert.False(t, r.Leading())
				require.NoError(t, ends(r))
				assert.Contains(t, r.log.String(), row.want)
				assert.NotContains(t, r.wire.sent(), "create")
			})
		})
	}
	for _, row := range []struct {
		reason string
		fail   func(context.Context, string) error
		want   string
	}{
		{"spec watch 33: a Pod that isn't there", nil, "ConfigMap shop/op: Pod shop/a: not found"},
		{"a Pod that must not be read", func(context.Context, string) error {
			return &deploy.ForbiddenError{Verb: "get", Namespace: "shop", Name: "a", Err: errDown}
		}, "connection refused"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := newForLife(t, newCluster(t, pod("b")), "a")
			r.wire.set(row.fail, nil)
			require.ErrorContains(t, r.Run(t.Context(), r.work), row.want)
			assert.Equal(t, []string{"get"}, r.wire.sent())
		})
	}
	t.Run("spec watch mistake 3: a read error never writes, and ends a leadership at the renew deadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, pod("a"))
			r := newForLife(t, cluster, "a")
			r.wire.set(down, nil)
			r.start(t)
			time.Sleep(time.Minute)
			assert.NotContains(t, r.wire.sent(), "create")
			r.wire.set(nil, nil)
			<-r.began
			synctest.Wait()
			r.wire.sent()
			r.wire.set(down, nil)
			start := time.Now()
			require.ErrorIs(t, <-r.returned, ErrLost)
			assert.Equal(t, 10*time.Second, time.Since(start))
			assert.NotContains(t, r.wire.sent(), "create")
		})
	})
	t.Run("spec watch mistake 5: of many that want it at once one gets it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			names := []string{"a", "b", "c", "d", "e"}
			var pods []*unstructured.Unstructured
			for _, name := range names {
				pods = append(pods, pod(name))
			}
			cluster := newCluster(t, pods...)
			var all []*replica
			for _, name := range names {
				all = append(all, newForLife(t, cluster, name).start(t))
			}
			time.Sleep(time.Minute)
			leading := 0
			for _, r := range all {
				if r.Leading() {
					leading++
				}
				r.stop()
				<-r.returned
			}
			assert.Equal(t, 1, leading)
		})
	})
	t.Run("the ConfigMap is deleted and made by another Pod", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, pod("a"), pod("b"))
			r := newForLife(t, cluster, "a").start(t)
			<-r.began
			require.NoError(t, cluster.Port().Delete(t.Context(), lockRef, deploy.DeleteOptions{}))
			_, err := cluster.Port().Create(t.Context(), ownedBy("b"), deploy.CreateOptions{})
			require.NoError(t, err)
			require.ErrorContains(t, <-r.returned, "leadership lost: b leads")
		})
	})
}
