package size_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// resource returns a resource with a spec in YAML.
func resource(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	var content any
	require.NoError(t, yaml.Unmarshal([]byte(spec), &content))
	return &unstructured.Unstructured{Object: fields{"spec": content}}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		spec      string
		options   []size.Option
		replicas  int
		resources string
	}{
		"size 4: the size that the resource names": {`{size: large}`, nil, 3, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 4: another field":                    {`{flavour: {of: large}}`, []size.Option{size.Field("spec.flavour.of")}, 3, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 4: the default size":                 {`{}`, []size.Option{size.Default("small"), nil}, 1, "requests: cpu: 100m memory: 128Mi"},
		"size 4: null counts as no size":           {`{size: null}`, []size.Option{size.Default("small")}, 1, "requests: cpu: 100m memory: 128Mi"},
		"size 4: a resource without a spec":        {`null`, []size.Option{size.Default("small")}, 1, "requests: cpu: 100m memory: 128Mi"},
		"size 5: an override of the replicas":      {`{size: large, overrides: {web: {replicas: 7}}}`, nil, 7, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: an override of 0":                 {`{size: large, overrides: {web: {replicas: 0}}}`, nil, 0, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: an override of one resource":      {`{size: large, overrides: {web: {resources: {limits: {cpu: 1}, requests: {memory: 1.5Gi}}}}}`, nil, 3, `limits: cpu: "1" memory: 2Gi requests: cpu: 500m memory: 1536Mi`},
		"size 5: an override of one container":     {`{size: large, overrides: {web: {containers: {web: {requests: {cpu: 1}}}}}}`, nil, 3, `limits: memory: 2Gi requests: cpu: "1" memory: 1Gi`},
		"size 5: nulls override nothing": {`{size: large, overrides: {db: null, web: {replicas: null, resources: {limits: null, requests: {cpu: null}}, containers: {web: null}}}}`, nil, 3,
			"limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: no overrides":                     {`{size: large, overrides: null}`, nil, 3, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: other fields belong to others":    {`{size: large, overrides: {web: {image: x}}}`, nil, 3, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: overrides in another field":       {`{size: large, overrides: 1, components: {web: {replicas: 2}}}`, []size.Option{size.Overrides("spec.components")}, 2, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
		"size 5: an override of another component": {`{size: large, overrides: {db: {replicas: 9}}}`, nil, 3, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			read, given := table(t), resource(t, row.spec)
			values, err := read.Of(given, "web", row.options...)
			require.NoError(t, err)
			assert.EqualValues(t, row.replicas, *values.Replicas)
			resources, has := values.ResourcesOf("web")
			assert.True(t, has)
			assert.Equal(t, row.resources, text(t, resources))
			assert.Equal(t, resource(t, row.spec), given, "the resource isn't changed")
			again, err := read.For("large", "web")
			require.NoError(t, err)
			assert.EqualValues(t, 3, *again.Replicas, "the table isn't changed")
			assert.Equal(t, "limits: memory: 2Gi requests: cpu: 500m memory: 1Gi", text(t, *again.Resources))
		})
	}
}

func TestOverrideOfOneResource(t *testing.T) {
	t.Parallel()
	t.Run("size 5: an override of a container is that of one resource only", func(t *testing.T) {
		t.Parallel()
		read, err := size.ReadYAML([]byte("small: {web: {containers: {proxy: {limits: {cpu: 1}}}}}"))
		require.NoError(t, err)
		for _, row := range []struct{ spec, want string }{
			{`{size: small, overrides: {web: {containers: {proxy: {limits: {cpu: 2}}, other: {limits: {cpu: 3}}}}}}`, `limits: cpu: "2"`},
			{`{size: small}`, `limits: cpu: "1"`},
		} {
			values, err := read.Of(resource(t, row.spec), "web")
			require.NoError(t, err)
			assert.Equal(t, row.want, text(t, values.Containers["proxy"]))
		}
	})
}

func TestMistakesOfAResource(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ spec, want string }{
		"size 3: a size that the table lacks":  {`{size: huge}`, `spec.size: there is no size "huge": use one of large, small`},
		"size 4: no size":                      {`{}`, "spec.size: it names no size: use one of large, small"},
		"size 4: a number":                     {`{size: 1}`, "spec.size: it has to be text: use one of large, small"},
		"size 4: a spec of another form":       {`[1]`, "spec: it isn't a map"},
		"size 6: overrides of another form":    {`{size: small, overrides: [1]}`, "spec.overrides: it has to be a map from components to their values"},
		"size 6: a component of another form":  {`{size: small, overrides: {web: 3}}`, "spec.overrides.web: it has to be a map with replicas, resources or containers"},
		"size 6: a component that isn't known": {`{size: small, overrides: {wbe: {replicas: 3}}}`, "spec.overrides.wbe: there is no such component in the table: use one of db, web"},
		"size 6: a number as text":             {`{size: small, overrides: {web: {replicas: "2"}}}`, `spec.overrides.web.replicas: it is the text "2": write a number, without quotes`},
		"size 6: a number that is too large":   {`{size: small, overrides: {web: {replicas: 99999999999}}}`, "spec.overrides.web.replicas: it is more than 2147483647"},
		"size 6: all mistakes at once": {`{size: small, overrides: {web: {replicas: 1.5, resources: {limits: {cpu: x}}}, db: {replicas: -1}}}`,
			"spec.overrides.db.replicas: it is negative: use 0 or more\nspec.overrides.web.replicas: it has to be a whole number\nspec.overrides.web.resources.limits.cpu: it isn't a quantity such as 100m or 1Gi"},
		"size 6: a request above the limit of the size": {`{size: large, overrides: {web: {resources: {requests: {memory: 3Gi}}}}}`, "spec.overrides.web.resources.requests.memory: 3Gi is above the limit 2Gi"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, err := table(t).Of(resource(t, row.spec), "web")
			require.EqualError(t, err, row.want)
			assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		})
	}
	t.Run("size 3: a component that the table lacks", func(t *testing.T) {
		t.Parallel()
		_, err := table(t).Of(resource(t, `{size: small}`), "other")
		require.ErrorContains(t, err, `there is no component "other"`)
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	t.Run("size 15: everything wrong with the options is an error at the start", func(t *testing.T) {
		t.Parallel()
		_, err := size.Components(table(t), size.Layer(""), size.Field("spec."), size.Overrides(".x"), size.Default("huge"))
		require.EqualError(t, err, `sizes: option Layer: "" isn't a path: use fields with dots between them, such as spec.size
sizes: option Field: "spec." isn't a path: use fields with dots between them, such as spec.size
sizes: option Overrides: ".x" isn't a path: use fields with dots between them, such as spec.size
sizes: option Default: there is no size "huge": use one of large, small`)
		for _, none := range []*size.Table{nil, {}} {
			_, err = size.Components(none)
			require.EqualError(t, err, "sizes: no table: make one by size.Read")
			_, err = none.Of(resource(t, `{size: small}`), "web")
			require.EqualError(t, err, "sizes: no table: make one by size.Read")
		}
	})
}
