package main

import (
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
	"github.com/operkit/operkit/tools/peers/ratio"
)

func BenchmarkPeers(b *testing.B) {
	f, err := loadFixture()
	if err != nil {
		b.Fatal(err)
	}
	ratio.Bench(b, f.pairs())
}

// What is compared is the same work with the same result.
func TestSameWork(t *testing.T) {
	t.Parallel()
	f, err := loadFixture()
	require.NoError(t, err)
	assert.InDelta(t, 25_000, len(f.documentBytes), 1_000, "the size of the document")

	pristine, pristineAfter := runtime.DeepCopyJSON(f.document), runtime.DeepCopyJSON(f.after)
	for i, patch := range f.patches {
		before := runtime.DeepCopyJSON(patch)
		theirs, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(runtime.DeepCopyJSON(f.document), patch, f.peerSchema)
		require.NoError(t, err)
		assert.Equal(t, before, patch, "the peer writes into the patch: it needs copies of it too")
		ours, err := smp.Strategic(f.document, patch, f.schema)
		require.NoError(t, err)
		assert.Equal(t, map[string]any(theirs), ours)
		assert.NotEqual(t, f.document, ours, "a patch that does nothing")
		shared, err := smp.Strategic(f.document, patch, f.schema, smp.Shared())
		require.NoError(t, err)
		assert.Equal(t, ours, shared)

		text, err := smp.JSONText.Strategic(f.documentBytes, f.patchBytes[i], f.schema)
		require.NoError(t, err)
		theirText, err := strategicpatch.StrategicMergePatch(f.documentBytes, f.patchBytes[i], appsv1.Deployment{})
		require.NoError(t, err)
		assert.Equal(t, string(theirText), string(text))
	}

	operations, err := jsonpatch.DecodePatch(f.operations)
	require.NoError(t, err)
	assert.Len(t, operations, 50)
	theirs, err := operations.Apply(f.documentBytes)
	require.NoError(t, err)
	ours, err := smp.JSONText.JSON(f.documentBytes, f.operations)
	require.NoError(t, err)
	assert.JSONEq(t, string(theirs), string(ours))

	assert.Equal(t, pristine, f.document, "the document was written to")
	assert.Equal(t, pristineAfter, f.after)
}

func TestSameDifference(t *testing.T) {
	t.Parallel()
	f, err := loadFixture()
	require.NoError(t, err)
	pristine, pristineAfter := runtime.DeepCopyJSON(f.document), runtime.DeepCopyJSON(f.after)
	theirs, err := strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(f.document, f.after, f.peerSchema)
	require.NoError(t, err)
	ours, err := smp.Diff(f.document, f.after, f.schema)
	require.NoError(t, err)
	oursText, err := smp.JSONText.Diff(f.documentBytes, f.afterBytes, f.schema)
	require.NoError(t, err)
	theirsText, err := strategicpatch.CreateTwoWayMergePatch(f.documentBytes, f.afterBytes, appsv1.Deployment{})
	require.NoError(t, err)
	for name, patch := range map[string]map[string]any{
		"theirs": theirs, "ours": ours, "their bytes": decoded(t, theirsText), "our bytes": decoded(t, oursText),
	} {
		result, err := smp.Strategic(f.document, patch, f.schema)
		require.NoError(t, err, name)
		assert.Equal(t, f.after, result, name)
	}
	assert.Equal(t, pristine, f.document, "the document was written to")
	assert.Equal(t, pristineAfter, f.after)
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var value map[string]any
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}
