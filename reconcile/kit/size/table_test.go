package size_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// text returns resources as YAML on one line.
func text(t testing.TB, r corev1.ResourceRequirements) string {
	t.Helper()
	out, err := yaml.Marshal(r)
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(out)), " ")
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("size 1: replicas, resources and containers of each component in each size", func(t *testing.T) {
		t.Parallel()
		read, err := size.Read(fields{
			"small": fields{"db": 1, "web": fields{"replicas": int64(2), "resources": fields{"requests": fields{"cpu": 0.5, "memory": "64Mi"}},
				"containers": fields{"proxy": fields{"limits": fields{"cpu": int64(1)}}}}},
			"large": fields{"db": int32(3), "web": fields{"replicas": 4.0}},
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"large", "small"}, read.Sizes())
		assert.Equal(t, []string{"db", "web"}, read.Components())
		web, err := read.For("small", "web")
		require.NoError(t, err)
		assert.EqualValues(t, 2, *web.Replicas)
		for container, want := range map[string]string{"web": "requests: cpu: 500m memory: 64Mi", "proxy": `limits: cpu: "1"`} {
			resources, has := web.ResourcesOf(container)
			assert.True(t, has)
			assert.Equal(t, want, text(t, resources))
		}
		db, err := read.For("large", "db")
		require.NoError(t, err)
		assert.EqualValues(t, 3, *db.Replicas)
		_, has := db.ResourcesOf("db")
		assert.False(t, has)
	})
	t.Run("size 1: the content stays the caller's, and so do values", func(t *testing.T) {
		t.Parallel()
		content := fields{"small": fields{"web": fields{"replicas": int64(1), "resources": fields{"limits": fields{"cpu": "1"}}}}}
		read, err := size.Read(content)
		require.NoError(t, err)
		content["small"].(fields)["web"].(fields)["replicas"] = int64(7)
		web, err := read.For("small", "web")
		require.NoError(t, err)
		*web.Replicas = 9
		web.Resources.Limits["cpu"] = web.Resources.Limits["memory"]
		again, err := read.For("small", "web")
		require.NoError(t, err)
		assert.EqualValues(t, 1, *again.Replicas)
		assert.Equal(t, `limits: cpu: "1"`, text(t, *again.Resources))
	})
	t.Run("size 1: YAML with a key twice, and what isn't a map, is an error", func(t *testing.T) {
		t.Parallel()
		for _, wrong := range []string{"small: {web: 1}\nsmall: {web: 2}", "- small", "{"} {
			_, err := size.ReadYAML([]byte(wrong))
			require.ErrorContains(t, err, "table of sizes: it isn't a YAML map")
		}
	})
}

func TestMistakesOfATable(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		table string
		want  []string
	}{
		"no sizes":               {`{}`, []string{"it has no sizes: add one"}},
		"null":                   {`null`, []string{"it has no sizes: add one"}},
		"a size that is empty":   {`small: {}`, []string{"small: it has to be a map with the values of components"}},
		"a size that is a list":  {`small: [web]`, []string{"small: it has to be a map with the values of components"}},
		"a size that is null":    {`small:`, []string{"small: it has to be a map with the values of components"}},
		"a component of nothing": {`small: {web: {}}`, []string{"small.web: it has to be a map with replicas, resources or containers"}},
		"nulls": {`small: {web: {replicas: null}, db: null}`, []string{
			"small.db: it has to be a map with replicas, resources or containers", "small.web.replicas: it is null: set it or remove it"}},
		"unknown keys": {`small: {web: {replica: 1, resources: {request: {cpu: 1}}}}`, []string{
			"small.web.replica: unknown key: use replicas, resources or containers", "small.web.resources.request: unknown key: use requests or limits"}},
		"a number as text": {`small: {web: {replicas: "2"}, db: "2"}`, []string{"small.db: it has to be a map", `small.web.replicas: it is the text "2": write a number, without quotes`}},
		"replicas that can't": {`small: {a: -1, b: 1.5, c: 2147483648, d: {replicas: true}, e: 1e300}`, []string{
			"small.a: it is negative", "small.b: it has to be a whole number", "small.c: it is more than 2147483647", "small.d.replicas: it has to be a whole number", "small.e: it is more than 2147483647"}},
		"quantities that can't": {`small: {web: {resources: {requests: {cpu: -1, memory: 1 Gi, ephemeral-storage: [1]}, limits: {mem: 1Gi}}}}`, []string{
			"small.web.resources.limits.mem: unknown resource: use cpu, memory", "small.web.resources.requests.cpu: it is negative",
			"small.web.resources.requests.ephemeral-storage: it isn't a quantity such as 100m or 1Gi", "small.web.resources.requests.memory: it isn't a quantity"}},
		"requests above limits": {`small: {web: {resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}, containers: {a: {requests: {memory: 1Gi}, limits: {memory: 1G}}}}}`, []string{
			"small.web.resources.requests.cpu: 2 is above the limit 1500m", "small.web.containers.a.requests.memory: 1Gi is above the limit 1G"}},
		"parts of a byte": {`small: {web: {resources: {requests: {memory: 128m}, limits: {memory: 0.5, ephemeral-storage: 1.5Ki, cpu: 100m}}}}`, []string{
			"small.web.resources.requests.memory: 128m has a part of a byte: use a unit such as Mi or M", "small.web.resources.limits.memory: 500m has a part of a byte"}},
		"parts of a GPU, and a share of one": {`small: {web: {resources: {requests: {nvidia.com/gpu: 1}}, containers: {a: {limits: {nvidia.com/gpu: 500m}}, b: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}}}}`, []string{
			"small.web.resources.requests.nvidia.com/gpu: it needs a limit of the same quantity",
			"small.web.containers.a.limits.nvidia.com/gpu: it has to be a whole number", "small.web.containers.b.requests.nvidia.com/gpu: it needs a limit of the same quantity"}},
		"empty maps": {`small: {web: {resources: {}, containers: {}}, db: {resources: {requests: {}}}}`, []string{
			"small.db.resources.requests: it has to be a map from resources to quantities",
			"small.web.containers: it has to be a map from the names of containers", "small.web.resources: it has to be a map with requests and limits"}},
		"sizes of different components": {`{large: {web: 1}, small: {web: 1, bd: 1}, tiny: {db: 1, web: 1}}`, []string{
			"large: it lacks the component bd, which other sizes have", "large: it lacks the component db", "small: it lacks the component db", "tiny: it lacks the component bd"}},
	} {
		t.Run("size 2: "+reason, func(t *testing.T) {
			t.Parallel()
			_, err := size.ReadYAML([]byte(row.table))
			require.Error(t, err)
			lines := strings.Split(strings.TrimPrefix(err.Error(), "table of sizes: "), "\n")
			require.Len(t, lines, len(row.want), err.Error())
			for i, want := range row.want {
				assert.Contains(t, lines[i], want)
			}
		})
	}
	t.Run("size 2: numbers of Go that JSON doesn't have", func(t *testing.T) {
		t.Parallel()
		_, err := size.Read(fields{"small": fields{"a": math.NaN(), "b": math.Inf(1), "c": fields{"resources": fields{"limits": fields{"cpu": math.Inf(1)}}}, "d": []string{"x"}}})
		require.ErrorContains(t, err, "small.a: ")
		for _, at := range []string{"small.b: ", "small.c.resources.limits.cpu: ", "small.d: "} {
			require.ErrorContains(t, err, at)
		}
	})
}

func TestFor(t *testing.T) {
	t.Parallel()
	t.Run("size 3: a size or component that the table lacks is an error with those that it has", func(t *testing.T) {
		t.Parallel()
		_, err := table(t).For("huge", "web")
		require.EqualError(t, err, `there is no size "huge": use one of large, small`)
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		_, err = table(t).For("small", "wbe")
		require.EqualError(t, err, `size "small": there is no component "wbe" in the table: use one of db, web`)
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
	})
}

func TestManyComponents(t *testing.T) {
	t.Parallel()
	t.Run("size 2: each mistake of 500 components is named", func(t *testing.T) {
		t.Parallel()
		components := fields{}
		for i := range 500 {
			components[fmt.Sprint("c", i)] = int64(-1)
		}
		_, err := size.Read(fields{"small": components})
		require.Error(t, err)
		assert.Len(t, strings.Split(err.Error(), "\n"), 500)
	})
}

// Whatever a table has, it is read or refused, and what was read sets values that can be set.
func FuzzReadYAML(f *testing.F) {
	for _, seed := range []string{sizes, `small: {web: {replicas: 1e9, containers: {a: {limits: {cpu: 1n}}}}}`, `a: {b: {resources: {limits: {x/y: 1}}}}`, `{"": {"": 0}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		read, err := size.ReadYAML([]byte(content))
		if err != nil {
			return
		}
		for _, one := range read.Sizes() {
			for _, component := range read.Components() {
				values, err := read.For(one, component)
				require.NoError(t, err)
				if values.Replicas != nil {
					assert.GreaterOrEqual(t, *values.Replicas, int32(0))
				}
			}
		}
	})
}
