package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	unavailable   = "temporary patches aren't available"
	reviewing     = "selfsubjectaccessreviews.authorization.k8s.io"
	patchResource = "temporarypatches.operkit.dev"
)

// Several looks fit into this time, see firstPatchLook.
const someLooks = 6 * time.Second

func TestPatchesWithoutTheirDefinition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.OwnCluster(), envtest.CRDs(definitions))
	r := w.start(gadgets, patchRights(t))
	w.resource(gadgets, "one")
	w.eventually("its own kind is served", func() bool { return w.mode("one") == "old" })
	w.eventually("it says what there isn't", func() bool { return len(r.log.lines(unavailable)) > 0 })
	time.Sleep(someLooks)
	require.Len(t, r.log.lines(unavailable), 1, "once")
	assert.Contains(t, r.log.lines(unavailable)[0], "level=INFO")
	assert.Contains(t, r.log.lines(unavailable)[0], `reason="their CustomResourceDefinition isn't installed"`)
	calls := w.Calls(t, r.user)
	assert.Empty(t, calls.Failed(), "no request fails for want of it")
	assert.Empty(t, calls.Of(reviewing), "nor is asked for rights that nobody needs yet")

	w.InstallCRDs(t, patchDefinition(t))
	w.patch("a", gadgets, "new")
	w.eventually("it is found once it is there", func() bool { return w.mode("one") == "new" })
	assert.Empty(t, r.log.lines("failed"))
}

func TestPatchesWithoutRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	r := w.start(gadgets, nil)
	w.resource(gadgets, "one")
	w.patch("a", gadgets, "new")
	w.eventually("its own kind is served", func() bool { return w.mode("one") == "old" })
	w.eventually("it says what is missing", func() bool { return len(r.log.lines(unavailable)) > 0 })
	time.Sleep(someLooks)
	said := r.log.lines(unavailable)
	require.Len(t, said, 1, "once")
	assert.Contains(t, said[0], "level=WARN")
	assert.Contains(t, said[0], "the operator may not get/list/watch/patch temporarypatches.operkit.dev in namespace "+w.Namespace+
		", patch temporarypatches.operkit.dev/status in namespace "+w.Namespace+": grant these rights, or switch temporary patches off by operator.WithoutTemporaryPatches")
	assert.Empty(t, w.Calls(t, r.user).Forbidden(), "no request fails for want of a right")
	assert.Empty(t, w.Calls(t, r.user).Of(patchResource))
	w.create(`{apiVersion: operator.operkit.dev/v1, kind: Gadget, metadata: {name: two, annotations: {
		operkit.dev/temporary-patches: '{"a":{"api_version":"operkit.dev/v1","timestamp":"2026-01-01T00:00:00Z"}}'}}}`)
	w.eventually("a resource that was patched isn't rendered without its patch", func() bool {
		updating, _ := status.Conditions(w.get(gadgets, "two")).Get(status.ConditionUpdating)
		return strings.Contains(updating.Message, "patch a: temporarypatches.operkit.dev: not allowed to get")
	})
	assert.Empty(t, w.mode("two"))

	w.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: late}, rules: [
		{apiGroups: [operkit.dev], resources: [temporarypatches], verbs: [get, list, watch, patch]},
		{apiGroups: [operkit.dev], resources: [temporarypatches/status], verbs: [patch]}]}`)
	w.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: late},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: late},
		subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: "` + r.user.Name + `"}]}`)
	w.eventually("rights that come later are found", func() bool { return w.mode("one") == "new" })
	w.eventually("and what waited for them goes on", func() bool { return w.mode("two") == "old" })
	assert.Empty(t, w.Calls(t, r.user).Writes().Forbidden(), "they suffice")
}

// TestPatchesSwitchedOff: also with all rights, and with a patch recorded by a former release.
func TestPatchesSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	r := w.start(gadgets, patchRights(t), operator.WithoutTemporaryPatches())
	w.patch("a", gadgets, "new")
	w.create(`{apiVersion: operator.operkit.dev/v1, kind: Gadget, metadata: {name: one, annotations: {
		operkit.dev/temporary-patches: '{"a":{"api_version":"operkit.dev/v1","timestamp":"2026-01-01T00:00:00Z"}}'}}}`)
	w.eventually("its own kind is served", func() bool { return w.mode("one") != "" })
	assert.Equal(t, "old", w.mode("one"), "without what is recorded")
	calls := w.Calls(t, r.user)
	assert.Empty(t, calls.Of(patchResource), "nothing of patches is asked for")
	assert.Empty(t, calls.Of(reviewing))
	assert.Empty(t, calls.Of("/apis"), "not even whether they are served")
	assert.Empty(t, r.log.lines(unavailable))
}

// TestPatchesOfTwoOperators: they serve one kind of patches for their own kinds, and leave each other's alone.
func TestPatchesOfTwoOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	ofGadgets, ofGears := w.start(gadgets, patchRights(t)), w.start(gears, patchRights(t))
	w.resource(gadgets, "one")
	w.eventually("the gadget is rendered", func() bool { return w.mode("one") == "old" })
	w.patch("a", gadgets, "new")
	w.eventually("the gadget is patched", func() bool { return w.mode("one") == "new" })
	w.eventually("the patch says so", func() bool { return w.applied("a").Reason == temporarypatch.ReasonApplied })

	for name, kind := range map[string]schema.GroupVersionKind{
		"misspelt": {Group: gadgets.Group, Version: "v1", Kind: "Gadged"}, "builtin": {Group: "apps", Version: "v1", Kind: "Deployment"},
	} {
		w.patch(name, kind, "new")
		w.eventually("patches mistake 4: what can't be patched is said to be so: "+name, func() bool { return w.applied(name).Status == "False" })
		condition := w.applied(name)
		assert.Equal(t, "NotPatchable", condition.Reason)
		assert.Regexp(t, "nobody is known to patch a "+kind.Kind+" of "+kind.GroupVersion().String()+": g(ear|adget)-operator patches operator.operkit.dev/v1/G", condition.Message)
		w.delete(temporarypatch.DefaultKind, name)
		w.eventually("it goes when it is deleted", func() bool { return w.get(temporarypatch.DefaultKind, name) == nil })
	}
	refused := w.Calls(t, ofGadgets.user, ofGears.user).Writes().Of(patchResource).Filter(func(c audit.Call) bool { return c.Name != "a" })
	assert.LessOrEqual(t, len(refused), 4, "one says so; both at once are sorted out by the resource version:\n%s", refused)

	w.delete(temporarypatch.DefaultKind, "a")
	w.eventually("the patch is gone", func() bool { return w.get(temporarypatch.DefaultKind, "a") == nil })
	w.eventually("and what it did", func() bool { return w.mode("one") == "old" })
	assert.NotContains(t, w.get(gadgets, "one").GetAnnotations()["operkit.dev/temporary-patches"], "a")
	foreign := w.Calls(t, ofGears.user).Of(patchResource).Writes().Filter(func(c audit.Call) bool { return c.Name == "a" })
	assert.Empty(t, foreign, "the other operator had no hand in it")
	assert.Empty(t, ofGears.log.lines("failed"))
	assert.Empty(t, ofGadgets.log.lines("failed"))
}
