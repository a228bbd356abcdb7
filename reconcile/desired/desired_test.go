package desired_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

const statusWritten = "configured CatSet tom status"

func TestStatus(t *testing.T) {
	t.Parallel()
	t.Run("desired 13: the status is about the children as they were written, in one write", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a"), configMap("b")))
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, int64(2), statusOf(h)["children"], "after one reconcile")
		assert.Len(t, result.Wrote, 2)
		settles(t, h, "nothing is left")
	})
	t.Run("desired 14: the events of writes after which nothing is left to do bring no further reconcile", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a"), configMap("b")))
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 1)
		want(h, configMap("a", "k=2"), configMap("b"))
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 2)
	})
	t.Run("desired 13: a child that changes by itself is seen", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(r desired.Request[desired.Unstructured], response *desired.Response) error {
			phase := ""
			if a := r.Children.Get(pods, "a"); a != nil {
				phase, _, _ = unstructured.NestedString(a.Object, "status", "phase")
			}
			response.Status = map[string]any{"phase": phase}
			return nil
		}}
		h := drive(t, s, desired.Child(pods, desired.InPlace))
		h.Apply(parent(pod("a", "1")))
		h.RunUntilSettled()
		assert.Equal(t, "Running", statusOf(h)["phase"])
		h.Break("Pod a", "it ran out of food")
		settles(t, h, "only the status", statusWritten)
		assert.Equal(t, "Failed", statusOf(h)["phase"])
	})
	t.Run("desired 13: a function may depend on its own status", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(r desired.Request[desired.Unstructured], response *desired.Response) error {
			step, _, _ := unstructured.NestedInt64(r.Parent.Object, "status", "step")
			response.Status = map[string]any{"step": min(step+1, 7)}
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent())
		h.RunUntilSettled()
		assert.Equal(t, int64(7), statusOf(h)["step"])
	})
	t.Run("desired 29: a function that never ends to change something fails a test", func(t *testing.T) {
		t.Parallel()
		n, failing := 0, &failing{T: t}
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			n++
			response.Children = []any{configMap("a", fmt.Sprint("n=", n))}
			return nil
		}}
		h := reconciletest.Drive(failing, desired.New(catSets, s, desired.Child(configMaps, desired.InPlace)))
		h.Apply(parent())
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, 5, n)
		assert.Equal(t, time.Second, result.RequeueAfter)
		func() {
			defer func() { _ = recover() }()
			h.RunUntilSettled()
		}()
		assert.Contains(t, failing.text, "ConfigMap")
	})
	t.Run("desired 10: without a status it is left alone", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.Status = nil
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		h.SetStatus("CatSet tom", map[string]any{"theirs": "x"})
		settles(t, h, "no status", "created ConfigMap a")
		assert.Equal(t, map[string]any{"theirs": "x"}, statusOf(h))
	})
	t.Run("desired 10: a status that is none is a permanent error", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.Status = 7
			return nil
		}}
		h := drive(t, s)
		h.Apply(parent())
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "status of type int isn't an object")
		assert.True(t, request.IsPermanent(err))
	})
	t.Run("desired 30: it is asked again after a time", func(t *testing.T) {
		t.Parallel()
		synced := 0
		s := script{synced: &synced, also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.ResyncAfter = time.Hour
			return nil
		}}
		h := drive(t, s)
		h.Apply(parent())
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, time.Hour, result.RequeueAfter)
	})
}

// failing is a T whose failures are part of the test.
type failing struct {
	*testing.T
	text string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f.text)
}
func (f *failing) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func TestErrors(t *testing.T) {
	t.Parallel()
	t.Run("desired 15: an error changes no child, and is reported", func(t *testing.T) {
		t.Parallel()
		var failure error
		s := reporter{script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			if failure != nil {
				response.Children = nil
			}
			return failure
		}}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		h.RunUntilSettled()
		failure = request.Permanent(errors.New("no such image"))
		want(h, configMap("b"))
		settles(t, h, "only the status", statusWritten)
		assert.Equal(t, "no such image", statusOf(h)["error"])
		h.Exists("ConfigMap a")
		failure = nil
		want(h, configMap("c"))
		settles(t, h, "it has passed", "created ConfigMap c", "deleted ConfigMap a", statusWritten)
		assert.Nil(t, statusOf(h)["error"])
	})
	t.Run("desired 15: a panic is an error", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(desired.Request[desired.Unstructured], *desired.Response) error { panic("no") }}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "panic: no")
		h.Gone("ConfigMap a")
	})
	t.Run("desired 1: a child that the parent can't have changes nothing, and waits for a change", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a"), pod("b", "1"), configMap("a")))
		_, err := h.Reconcile("CatSet tom")
		var child *desired.ChildError
		require.ErrorAs(t, err, &child)
		assert.Equal(t, deploy.Ref{Kind: pods, Name: "b"}, child.Child)
		assert.ErrorContains(t, err, "CatSet test/tom: child 1, Pod b: the kind Pod of v1 isn't declared: declare it by Child")
		assert.ErrorContains(t, err, "it is returned twice, as children 0 and 2")
		assert.True(t, request.IsPermanent(err))
		h.Gone("ConfigMap a")
		assert.Contains(t, statusOf(h)["error"], "isn't declared")
		want(h, configMap("a"))
		settles(t, h, "it is mended", "created ConfigMap a", statusWritten)
	})
	for reason, status := range map[string]any{
		"a status that is none": 7, "conditions that aren't a list": map[string]any{"conditions": "Ready"},
		"a condition that is none": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "yes"}}},
	} {
		t.Run("desired 1: "+reason+" changes nothing", func(t *testing.T) {
			t.Parallel()
			s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
				response.Status = status
				return nil
			}}
			h := drive(t, s, desired.Child(configMaps, desired.InPlace))
			h.Apply(parent(configMap("a")))
			_, err := h.Reconcile("CatSet tom")
			require.ErrorContains(t, err, "status")
			assert.True(t, request.IsPermanent(err))
			h.Gone("ConfigMap a")
		})
	}
	t.Run("desired 10: a status with a condition is written", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.Status = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Complete"}}}
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		settles(t, h, "it is new", "created ConfigMap a", statusWritten)
		assert.Equal(t, "Complete", h.Condition("CatSet tom", "Ready").Reason)
	})
	for reason, answer := range map[string]desired.Response{
		"a child that the parent can't have": {Children: []any{pod("b", "1")}},
		"a status that is none":              {Status: 7},
		"a negative time":                    {ResyncAfter: -1},
	} {
		t.Run("desired 80: an external function is asked again: "+reason, func(t *testing.T) {
			t.Parallel()
			isMended := false
			s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
				if !isMended {
					*response = answer
				}
				return nil
			}}
			h := drive(t, s, desired.Child(configMaps, desired.InPlace), desired.External())
			h.Apply(parent(configMap("a")))
			_, err := h.Reconcile("CatSet tom")
			require.Error(t, err)
			assert.False(t, request.IsPermanent(err), "%v", err)
			isMended = true
			h.Advance(time.Hour)
			h.Exists("ConfigMap a")
		})
	}
	t.Run("desired 16: a child that fails doesn't keep others from being applied, but from being deleted", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("old")))
		h.RunUntilSettled()
		refused := configMap("bad")
		refused["data"] = map[string]any{"no/key": "x"}
		want(h, refused, configMap("good"))
		h.RunUntilSettled()
		h.Exists("ConfigMap good", "ConfigMap old")
		assert.Contains(t, statusOf(h)["error"], "no/key")
		want(h, configMap("good"))
		settles(t, h, "it is mended", "deleted ConfigMap old", statusWritten)
	})
	t.Run("desired 16: neither does one that can't be sent", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a", "k=1"), configMap("b", "k=1")))
		h.RunUntilSettled()
		bad := configMap("a", "k=2")
		bad["metadata"].(map[string]any)["annotations"] = map[string]any{"operkit.dev/strategy": "Guess"}
		want(h, bad, configMap("b", "k=2"))
		h.RunUntilSettled()
		assert.Equal(t, "2", h.Get("ConfigMap b").Object["data"].(map[string]any)["k"])
		assert.Contains(t, statusOf(h)["error"], "Guess")
	})
	t.Run("desired 3: a cluster-scoped parent has children in several namespaces", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, script{}, desired.Child(configMaps, desired.InPlace)),
			reconciletest.Memory(dryrun.AnyKind(catSets.GroupKind()), dryrun.Namespaces("test", "other")))
		inOther := configMap("a")
		inOther["metadata"].(map[string]any)["namespace"] = "other"
		inTest := configMap("a")
		inTest["metadata"].(map[string]any)["namespace"] = "test"
		h.Apply(parent(inOther, inTest))
		h.RunUntilSettled()
		h.Exists("ConfigMap other/a", "ConfigMap test/a")
		assert.Equal(t, int64(2), statusOf(h)["children"])
		want(h, inOther)
		h.RunUntilSettled()
		h.Exists("ConfigMap other/a")
		h.Gone("ConfigMap test/a")
	})
	t.Run("desired 16: an object of somebody else isn't touched", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(configMap("a", "k=theirs"))
		h.Apply(parent(configMap("a", "k=1")))
		h.RunUntilSettled()
		assert.Equal(t, "theirs", h.Get("ConfigMap a").Object["data"].(map[string]any)["k"])
		assert.Contains(t, statusOf(h)["error"], "ConfigMap test/a")
		want(h)
		h.RunUntilSettled()
		h.Exists("ConfigMap a")
	})
	t.Run("desired 15: a conflict is no news for the status", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbApply, Code: 503, Count: 1}))
		_, err := h.Reconcile("CatSet tom")
		require.Error(t, err)
		assert.Empty(t, statusOf(h))
	})
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	keepB := func(r desired.Request[desired.Unstructured]) (kept []any) {
		if b := r.Children.Get(configMaps, "b"); b != nil {
			kept = append(kept, b)
		}
		return kept
	}
	child := desired.Child(configMaps, desired.InPlace)
	finalizers := func(h *reconciletest.Harness) []string { return h.Get("CatSet tom").GetFinalizers() }
	t.Run("desired 11: the finalizer comes first, and goes when Finalize has ended", func(t *testing.T) {
		t.Parallel()
		synced := 0
		h := drive(t, teardown{script{synced: &synced}, keepB}, child)
		h.Apply(parent(configMap("a"), configMap("b")))
		h.RunUntilSettled()
		assert.Equal(t, "configured CatSet tom", writes(h)[0])
		assert.Equal(t, []string{"operkit.dev/operkit"}, finalizers(h))
		before := synced
		h.Delete("CatSet tom")
		settles(t, h, "it keeps b", "deleted ConfigMap a", statusWritten)
		assert.Equal(t, map[string]any{"phase": "ending", "children": int64(1), "observedGeneration": int64(2)}, statusOf(h))
		assert.Equal(t, before, synced, "Sync isn't called any more")
		h.Restart()
		settles(t, h, "a restart changes nothing")
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
		h.RunUntilSettled()
		h.Gone("CatSet tom", "ConfigMap b")
	})
	t.Run("desired 11: finalizers of others stay", func(t *testing.T) {
		t.Parallel()
		h := drive(t, teardown{script{}, keepB}, child)
		p := parent(configMap("b"))
		p.SetFinalizers([]string{"example.dev/theirs"})
		p.SetAnnotations(map[string]string{"free": "true"})
		h.Apply(p)
		h.RunUntilSettled()
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		assert.Equal(t, []string{"example.dev/theirs"}, finalizers(h))
		settles(t, h, "it is the others' now")
		h.Exists("ConfigMap b")
	})
	t.Run("desired 11: without Finalize there is no finalizer, and one that is left is removed", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, child)
		p := parent(configMap("a"))
		p.SetFinalizers([]string{"operkit.dev/operkit"})
		h.Apply(p)
		settles(t, h, "it is created", "configured CatSet tom", "created ConfigMap a", statusWritten)
		assert.Empty(t, finalizers(h))
		h.Delete("CatSet tom")
		settles(t, h, "nothing is to be done")
		h.Gone("CatSet tom", "ConfigMap a")
	})
	t.Run("desired 11: a parent that was deleted before it had the finalizer is left alone", func(t *testing.T) {
		t.Parallel()
		h := drive(t, teardown{script{}, keepB}, child)
		p := parent(configMap("a"))
		p.SetFinalizers([]string{"example.dev/theirs"})
		h.Apply(p)
		h.Delete("CatSet tom")
		settles(t, h, "nothing is done")
	})
	t.Run("desired 28: nothing is created while the cluster deletes the children first", func(t *testing.T) {
		t.Parallel()
		keepA := func(desired.Request[desired.Unstructured]) []any { return []any{configMap("a"), configMap("c")} }
		h := drive(t, teardown{script{}, keepA}, child)
		h.Apply(parent(configMap("a")))
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers([]string{"example.dev/slow"}) })
		uid := h.Get("CatSet tom").GetUID()
		ref := deploy.Ref{Kind: catSets, Namespace: "test", Name: "tom"}
		require.NoError(t, h.Cluster().Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: uid, Propagation: metav1.DeletePropagationForeground}))
		h.RunUntilSettled()
		h.Gone("ConfigMap c")
		h.Exists("ConfigMap a")
		settles(t, h, "and it settles")
	})
	t.Run("desired 27: children that hold data stay, unless the option says otherwise", func(t *testing.T) {
		t.Parallel()
		claim := map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
		}
		for deletable, opts := range map[bool][]desired.ChildOption{false: nil, true: {desired.Deletable()}} {
			h := drive(t, script{}, desired.Child(claims, desired.OnDelete, opts...))
			h.Apply(parent(claim))
			h.RunUntilSettled()
			h.Exists("PersistentVolumeClaim a")
			want(h)
			h.RunUntilSettled()
			if assert.Equal(t, deletable, len(writes(h)) == 2, "%v", writes(h)); !deletable {
				h.Exists("PersistentVolumeClaim a")
			}
		}
	})
}

func TestAdoption(t *testing.T) {
	t.Parallel()
	labelled := func(name, cat string) map[string]any {
		child := configMap(name, "k=theirs")
		child["metadata"].(map[string]any)["labels"] = map[string]any{"cat": cat}
		return child
	}
	t.Run("desired 12: orphans that the selector selects become children, and no others", func(t *testing.T) {
		t.Parallel()
		h := drive(t, adopter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled("a", "tom"), labelled("b", "tom"), labelled("c", "other"), configMap("d"))
		p := parent(configMap("a", "k=1"))
		p.SetLabels(map[string]string{"adopts": "tom"})
		h.Apply(p)
		h.RunUntilSettled()
		assert.Equal(t, "1", h.Get("ConfigMap a").Object["data"].(map[string]any)["k"])
		assert.Equal(t, "tom", h.Get("ConfigMap a").GetOwnerReferences()[0].Name)
		h.Gone("ConfigMap b")
		h.Exists("ConfigMap c", "ConfigMap d")
		settles(t, h, "all is done")
		h.Apply(labelled("e", "tom"))
		h.RunUntilSettled()
		h.Gone("ConfigMap e")
	})
	t.Run("desired 12: a selector of everything is a permanent error", func(t *testing.T) {
		t.Parallel()
		h := drive(t, adopter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(configMap("a"))
		p := parent()
		p.SetLabels(map[string]string{"adopts": "all"})
		h.Apply(p)
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "adopts: selector: it is empty")
		assert.True(t, request.IsPermanent(err))
		assert.Empty(t, h.Get("ConfigMap a").GetOwnerReferences())
	})
}

func TestRelated(t *testing.T) {
	t.Parallel()
	secret := func(namespace, name, value string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": namespace, "name": name, "labels": map[string]any{"use": "cats"}},
			"stringData": map[string]any{"v": value},
		}
	}
	selector, others := labels.SelectorFromSet(labels.Set{"use": "cats"}), labels.SelectorFromSet(labels.Set{"team": "cats"})
	for _, row := range []struct {
		reason    string
		selection desired.Selection
		want      string
		err       string
	}{
		{"desired 18: by name, in the namespace of the parent", desired.Selection{Kind: secrets, Names: []string{"a", "x"}}, "a", ""},
		{"desired 18: by labels", desired.Selection{Kind: secrets, Labels: selector}, "a,b", ""},
		{"desired 18: in another namespace", desired.Selection{Kind: secrets, Namespace: "other", Labels: selector}, "c", ""},
		{"desired 18: in all namespaces", desired.Selection{Kind: secrets, Everywhere: true, Labels: labels.Everything()}, "c,a,b", ""},
		{"desired 85: by name, in all namespaces", desired.Selection{Kind: secrets, Everywhere: true, Names: []string{"c", "a", "x"}}, "c,a", ""},
		{"desired 85: by labels, in the namespaces of a selector", desired.Selection{Kind: secrets, Namespaces: others, Labels: selector}, "c", ""},
		{"desired 85: by name, in the namespaces of a selector", desired.Selection{Kind: secrets, Namespaces: others, Names: []string{"a", "c"}}, "c", ""},
		{"desired 85: in no namespace", desired.Selection{Kind: secrets, Namespaces: labels.Nothing(), Labels: selector}, "", ""},
		{"desired 85: a namespace and a selector", desired.Selection{Kind: secrets, Namespaces: others, Everywhere: true, Labels: selector}, "", "related[0]: Secret: has Namespaces and another namespace"},
		{"desired 18: a kind is needed", desired.Selection{Names: []string{"a"}}, "", "related[0]: kind"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			s := relater{selections: []desired.Selection{row.selection}}
			h := reconciletest.Drive(t, desired.New(catSets, s), reconciletest.Memory(dryrun.AnyKind(), dryrun.Namespaces("test", "other")))
			h.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {team: cats}}}")
			h.Apply(secret("test", "a", "1"), secret("test", "b", "1"), secret("other", "c", "1"))
			h.Apply(parent())
			_, err := h.Reconcile("CatSet tom")
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				assert.True(t, request.IsPermanent(err))
				return
			}
			require.NoError(t, err)
			h.RunUntilSettled()
			text, _ := statusOf(h)["secrets"].(string)
			assert.Equal(t, row.want, text)
			if row.want == "" {
				return
			}
			first, _, _ := strings.Cut(row.want, ",")
			namespace := map[string]string{"c": "other/"}[first]
			h.Delete("Secret " + namespace + first)
			settles(t, h, "a change brings the parent to reconcile", statusWritten)
			assert.NotContains(t, statusOf(h)["secrets"], first)
		})
	}
}

func TestRelatedNamespaces(t *testing.T) {
	t.Parallel()
	t.Run("desired 85: a namespace that gets or loses the labels brings the parent", func(t *testing.T) {
		t.Parallel()
		s := relater{selections: []desired.Selection{{Kind: secrets, Namespaces: labels.SelectorFromSet(labels.Set{"team": "cats"}), Names: []string{"c"}}}}
		h := reconciletest.Drive(t, desired.New(catSets, s), reconciletest.Memory(dryrun.AnyKind(), dryrun.Namespaces("test", "other")))
		h.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: other}}", "{apiVersion: v1, kind: Secret, metadata: {name: c, namespace: other}}")
		h.Apply(parent())
		h.RunUntilSettled()
		for value, want := range map[string]string{"cats": "c", "dogs": ""} {
			h.Edit("Namespace other", func(n *unstructured.Unstructured) { n.SetLabels(map[string]string{"team": value}) })
			h.RunUntilSettled()
			text, _ := statusOf(h)["secrets"].(string)
			assert.Equal(t, want, text, value)
		}
	})
}

func TestStanding(t *testing.T) {
	t.Parallel()
	t.Run("desired 23: a paused parent rests, and says so", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		p := parent(configMap("a"))
		p.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		h.Apply(p)
		settles(t, h, "only the pause", statusWritten)
		assert.Equal(t, metav1.ConditionTrue, h.Condition("CatSet tom", "Paused").Status)
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(nil) })
		settles(t, h, "it goes on", "created ConfigMap a", statusWritten)
		assert.Empty(t, h.Condition("CatSet tom", "Paused"))
	})
}
