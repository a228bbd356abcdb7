package deploy_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// tree makes a value of a few fields out of bytes.
type tree struct{ data []byte }

func (s *tree) next(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func (s *tree) fields(depth int) map[string]any {
	out := map[string]any{}
	for range s.next(4) {
		name := string(rune('a' + s.next(3)))
		switch kind := s.next(5); {
		case kind == 0 && depth > 0:
			out[name] = s.fields(depth - 1)
		case kind == 1:
			out[name] = []any{int64(s.next(2))}
		default:
			out[name] = int64(s.next(3))
		}
	}
	return out
}

func widget(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "namespace": "shop"}, "spec": spec,
	}}
}

// What is found to be contested without a call is what the cluster reports.
func FuzzContestedFields(f *testing.F) {
	f.Add([]byte("1a2b3c4d5e6f"), true)
	f.Add([]byte("\x03\x00\x02\x01\x03\x01\x00\x02\x02\x02\x01\x02\x03\x00\x01\x02\x01"), false)
	f.Fuzz(func(t *testing.T, data []byte, applies bool) {
		s := &tree{data}
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Fail)))
		if applies {
			apply(t, m, widget(s.fields(2)))
		}
		port, ref := cluster.memory.Port(), deploy.RefOf(widget(nil))
		_, err := port.Apply(t.Context(), widget(s.fields(2)), deploy.ApplyOptions{FieldManager: "other", Force: true})
		require.NoError(t, err)
		body, err := json.Marshal(map[string]any{"spec": s.fields(2)})
		require.NoError(t, err)
		_, err = port.Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: "kubectl"})
		require.NoError(t, err)

		intent := widget(s.fields(2))
		_, err = port.Apply(t.Context(), intent, deploy.ApplyOptions{FieldManager: m.FieldManager(), DryRun: true})
		var theirs, ours *deploy.ConflictError
		errors.As(err, &theirs)
		cluster.take()
		result := apply(t, m, intent)
		if errors.As(result.Err, &ours) {
			require.Empty(t, cluster.take(), "it is known without a call: %v %v of\n%v", result.Err, intent.Object["spec"], cluster.get(t, ref))
			require.Nil(t, ours.Err)
		}
		require.Equal(t, names(theirs), names(ours), "intent %v of\n%v", intent.Object["spec"], cluster.get(t, ref))
	})
}

func names(conflict *deploy.ConflictError) []string {
	if conflict == nil {
		return nil
	}
	out := slices.Clone(fieldsOf(conflict.Fields))
	slices.Sort(out)
	return out
}
