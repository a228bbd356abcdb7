package desired_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fleet is a Syncer whose parent has a number of Pods, with an image that is rolled, and a node that isn't.
type fleet struct {
	// asked collects the images about which it was asked.
	asked *[]string
	// only, if it isn't nil, returns the Pods that are wanted for an image.
	only func(image string, pods []any) []any
}

func (f fleet) Sync(r desired.Request[desired.Unstructured]) (response desired.Response, err error) {
	image, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "template", "image")
	node, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "node")
	if f.asked != nil {
		*f.asked = append(*f.asked, image)
	}
	if image == "refused" {
		return response, errors.New("refused")
	}
	for _, name := range strings.Fields("a b c") {
		one := pod(name, image)
		one["metadata"].(map[string]any)["labels"] = map[string]any{"node": node}
		response.Children = append(response.Children, one)
	}
	if f.only != nil {
		response.Children = f.only(image, response.Children)
	}
	response.Status = map[string]any{"image": image}
	return response, nil
}

func fleetOf(image, node string) *unstructured.Unstructured {
	p := parent()
	p.Object["spec"] = map[string]any{"template": map[string]any{"image": image}, "node": node}
	return p
}

func setImage(h *reconciletest.Harness, image string) { setField(h, image, "template", "image") }

func setField(h *reconciletest.Harness, value string, path ...string) {
	h.Edit("CatSet tom", func(p *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(p.Object, value, append([]string{"spec"}, path...)...)
	})
}

// images returns the images of the Pods, in the order of their names.
func images(h *reconciletest.Harness) (all string) {
	for _, name := range strings.Fields("a b c") {
		image := "-"
		if p := h.Get("Pod " + name); p != nil {
			containers, _, _ := unstructured.NestedSlice(p.Object, "spec", "containers")
			image = containers[0].(map[string]any)["image"].(string)
		}
		all += image
	}
	return all
}

// history returns the numbers of the revisions and the children of the earlier ones.
func history(h *reconciletest.Harness) (all []string) {
	for _, one := range revisionsOf(h) {
		text := one.GetAnnotations()["operkit.dev/children"]
		all = append(all, strings.TrimSpace(fmt.Sprintf("%v %s", one.Object["revision"], text)))
	}
	return all
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	rolled := desired.Child(pods, desired.RollingRecreate)
	byTemplate := desired.Revisions("spec.template")
	start := func(t *testing.T, s desired.Syncer[desired.Unstructured], opts ...desired.Option) *reconciletest.Harness {
		t.Helper()
		h := drive(t, s, opts...)
		h.Apply(fleetOf("1", "x"))
		h.RunUntilSettled()
		require.Equal(t, "111", images(h))
		require.Equal(t, []string{`1 {"Pod":["a","b","c"]}`}, history(h))
		return h
	}
	t.Run("desired 88: the first one is written when the children are as wanted", func(t *testing.T) {
		t.Parallel()
		h := drive(t, fleet{}, rolled, byTemplate)
		h.Apply(fleetOf("1", "x"))
		h.RunUntilSettled()
		all := writes(h)
		assert.ElementsMatch(t, []string{"created Pod a", "created Pod b", "created Pod c"}, all[:3])
		assert.Equal(t, []string{"created ControllerRevision " + revisionsOf(h)[0].GetName(), statusWritten}, all[3:])
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("desired 88: a change of the fields rolls", func(t *testing.T) {
		t.Parallel()
		h := start(t, fleet{}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		assert.Equal(t, "211", images(h))
		assert.ElementsMatch(t, []string{`1 {"Pod":["b","c"]}`, `2 {"Pod":["a"]}`}, history(h))
		assert.Equal(t, "False RolloutWaiting Pod b waits for Pod a", updated(h))
		assert.Equal(t, "2", statusOf(h)["image"])
		h.Restart()
		settles(t, h, "the restart changes nothing")
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, "222", images(h))
		assert.Equal(t, []string{`2 {"Pod":["a","b","c"]}`}, history(h), "nobody needs the first one")
		assert.Equal(t, "True OnLatestRevision no child waits for an update to revision 2", updated(h))
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("desired 89: a child that waits and is deleted is created as it was", func(t *testing.T) {
		t.Parallel()
		h := start(t, fleet{}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		h.Delete("Pod c")
		h.RunUntilSettled()
		assert.Equal(t, "211", images(h))
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, "222", images(h))
	})
	t.Run("desired 89: other fields change all children at once, each in its revision", func(t *testing.T) {
		t.Parallel()
		h := start(t, fleet{}, rolled, byTemplate)
		h.Hold("Pod a")
		setField(h, "y", "node")
		settles(t, h, "nobody waits for a", "deleted Pod a", "created Pod a", "deleted Pod b", "created Pod b", "deleted Pod c", "created Pod c", statusWritten)
		setImage(h, "2")
		h.RunUntilSettled()
		setField(h, "z", "node")
		h.RunUntilSettled()
		assert.Equal(t, "211", images(h))
		for _, name := range strings.Fields("a b c") {
			assert.Equal(t, "z", h.Get("Pod " + name).GetLabels()["node"])
		}
	})
	t.Run("desired 90: the functions are asked for each revision in use", func(t *testing.T) {
		t.Parallel()
		var asked []string
		h := start(t, fleet{asked: &asked}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		setImage(h, "3")
		h.RunUntilSettled()
		assert.Equal(t, "311", images(h), "a isn't healthy, so that it comes first")
		asked = nil
		_, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, []string{"3", "1"}, asked)
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, "333", images(h))
		assert.Equal(t, []string{`3 {"Pod":["a","b","c"]}`}, history(h))
	})
	t.Run("desired 90: children of one about which the functions fail stay as they are, and the roll goes on", func(t *testing.T) {
		t.Parallel()
		var refuse bool
		h := start(t, fleet{only: func(image string, all []any) []any {
			if refuse && image == "1" {
				return append(all, all[0])
			}
			return all
		}}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		refuse = true
		_, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, "211", images(h))
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, "222", images(h))
	})
	t.Run("desired 91: going back in the middle of a roll", func(t *testing.T) {
		t.Parallel()
		h := start(t, fleet{}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		setImage(h, "1")
		h.RunUntilSettled()
		assert.Equal(t, "111", images(h))
		assert.Equal(t, []string{`3 {"Pod":["a","b","c"]}`}, history(h), "it is the same revision under a new number")
	})
	t.Run("desired 91: a child that an earlier one doesn't want stays until its turn", func(t *testing.T) {
		t.Parallel()
		more := false
		h := start(t, fleet{only: func(image string, all []any) []any {
			if more && image == "1" {
				return nil
			}
			return all
		}}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		more = true
		h.Delete("Pod c")
		h.RunUntilSettled()
		assert.Equal(t, "212", images(h), "b stays, and c is created as the present one wants it")
	})
	t.Run("desired 91: a child that isn't wanted any more is deleted", func(t *testing.T) {
		t.Parallel()
		fewer := false
		h := start(t, fleet{only: func(_ string, all []any) []any {
			if fewer {
				return all[:2]
			}
			return all
		}}, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		fewer = true
		setField(h, "y", "node")
		h.RunUntilSettled()
		assert.Equal(t, "21-", images(h))
		assert.ElementsMatch(t, []string{`1 {"Pod":["b"]}`, `2 {"Pod":["a"]}`}, history(h))
	})
	t.Run("desired 92: a parent without the fields", func(t *testing.T) {
		t.Parallel()
		h := drive(t, fleet{}, rolled, desired.Revisions("spec.absent"))
		h.Apply(fleetOf("1", "x"))
		_, err := h.Reconcile("CatSet tom")
		assert.ErrorContains(t, err, "revisions: field path spec.absent: the parent doesn't have this field")
	})
	t.Run("desired 92: a parent without a namespace", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		definition := strings.Replace(definitionOf("Cattery"), "scope: Namespaced", "scope: Cluster", 1)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "catteries.yaml"), []byte(definition), 0o600))
		h := reconciletest.Drive(t, desired.New(catteries, fleet{}, rolled, byTemplate), reconciletest.Definitions(folder))
		p := fleetOf("1", "x")
		p.SetGroupVersionKind(catteries)
		h.Apply(p)
		_, err := h.Reconcile("Cattery tom")
		assert.ErrorContains(t, err, "revisions: the parent has no namespace, which ControllerRevisions need")
		h.Writes(0)
	})
	t.Run("desired 92: an annotation that somebody has broken", func(t *testing.T) {
		t.Parallel()
		h := start(t, fleet{}, rolled, byTemplate)
		name := revisionsOf(h)[0].GetName()
		h.Edit("ControllerRevision "+name, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/children": "[]"})
		})
		_, err := h.Reconcile("CatSet tom")
		assert.ErrorContains(t, err, "ControllerRevision "+name+": annotation operkit.dev/children: isn't a JSON object of kinds and names")
	})
	t.Run("desired 93: while a parent is finalized, nothing is rolled", func(t *testing.T) {
		t.Parallel()
		f := fleet{}
		s := desired.Funcs[desired.Unstructured]{OnSync: f.Sync, OnFinalize: func(r desired.Request[desired.Unstructured]) (desired.Response, error) {
			response, err := f.Sync(r)
			response.Finalized = r.Parent.GetAnnotations()["free"] != ""
			return response, err
		}}
		h := start(t, s, rolled, byTemplate)
		h.Hold("Pod a")
		setImage(h, "2")
		h.RunUntilSettled()
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, "211", images(h))
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "yes"}) })
		h.RunUntilSettled()
		h.Gone("CatSet tom")
	})
}

// A roll that is killed at any of its writes goes on, and nothing is rolled past a child that isn't healthy.
func TestRevisionsSurviveKills(t *testing.T) {
	t.Parallel()
	begin := func() *reconciletest.Harness {
		h := drive(t, fleet{}, desired.Child(pods, desired.RollingRecreate), desired.Revisions("spec.template"))
		h.Apply(fleetOf("1", "x"))
		h.RunUntilSettled()
		h.Hold("Pod a")
		setImage(h, "2")
		return h
	}
	h := begin()
	h.RunUntilSettled()
	all := len(writes(h))
	assert.Equal(t, 6, all, "two revisions, the move of a, its deletion and creation, and the status")
	for nth := 1; nth <= all; nth++ {
		for _, arrives := range []bool{false, true} {
			h := begin()
			h.Kill(nth, arrives)
			h.RunUntilSettled()
			assert.Equal(t, "211", images(h), "desired 94: killed at write %d", nth)
			h.Release()
			h.RunUntilSettled()
			assert.Equal(t, "222", images(h), "desired 94: killed at write %d", nth)
			assert.Len(t, revisionsOf(h), 1)
		}
	}
}

// TestRevisionsRandom changes images, deletes Pods, breaks and mends them, and restarts, at random. No Pod is of an
// image that no revision had, and in the end all are of the last one.
func TestRevisionsRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 3))
		h := drive(t, fleet{}, desired.Child(pods, desired.RollingRecreate), desired.Revisions("spec.template"))
		image := "1"
		h.Apply(fleetOf(image, "x"))
		h.RunUntilSettled()
		for range 15 {
			switch random.IntN(5) {
			case 0, 1:
				image = fmt.Sprint(1 + random.IntN(4))
				setImage(h, image)
			case 2:
				if name := "Pod " + []string{"a", "b", "c"}[random.IntN(3)]; h.Get(name) != nil {
					h.Delete(name)
				}
			case 3:
				h.Hold("Pod " + []string{"a", "b", "c"}[random.IntN(3)])
			default:
				h.Restart()
			}
			if random.IntN(3) > 0 {
				h.RunUntilSettled()
				assert.NotContains(t, images(h), "-")
			}
		}
		h.Release()
		h.RunUntilSettled()
		assert.Equal(t, strings.Repeat(image, 3), images(h), "desired 94: seed %d", seed)
		assert.Len(t, revisionsOf(h), 1)
		h.RunUntilSettled()
		h.Writes(0)
	}
}
