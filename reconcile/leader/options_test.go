package leader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is a Pod that is told its namespace by file.
func told(file string) Option { return func(o *options) { o.namespaceFile = file } }

func TestMistakes(t *testing.T) {
	t.Parallel()
	port := newCluster(t).Port()
	nowhere := told(filepath.Join(t.TempDir(), "none"))
	for _, row := range []struct {
		reason string
		port   deploy.Port
		name   string
		opts   []Option
		want   string
	}{
		{"no port", nil, "shop/op", nil, "lease: nil port"},
		{"spec watch 32: no name", port, "", []Option{nowhere}, `lease: name "": it has no namespace, and no file of a service account names one: write namespace/name: open `},
		{"spec watch 32: no namespace, and none to be told", port, "op", []Option{nowhere}, `lease: name "op": it has no namespace`},
		{"an empty namespace", port, "/op", nil, `lease: name "/op": namespace "": `},
		{"an empty name", port, "shop/", nil, `lease: name "shop/": a lowercase RFC 1123 subdomain`},
		{"a name that can't be one", port, "shop/My Op", nil, `lease: name "shop/My Op": a lowercase`},
		{"two slashes", port, "a/b/c", nil, `lease: name "a/b/c": a lowercase`},
		{"watch mistake 25: no time between two attempts", port, "shop/op", []Option{Timing(0, 0, -1)}, "lease: retry period: -1ns: it must be positive"},
		{"watch mistake 9: a negative time", port, "shop/op", []Option{Timing(0, 0, -time.Second)}, "lease: retry period: -1s: it must be positive"},
		{"a deadline that one failure breaks", port, "shop/op", []Option{Timing(0, 3*time.Second, 2*time.Second)}, "lease: renew deadline: 3s: two retry periods of 2s don't fit into it"},
		{"a Lease that runs out while its holder goes on", port, "shop/op", []Option{Timing(10*time.Second, 10*time.Second, 0)}, "lease: duration: 10s: it must be longer than the renew deadline of 10s"},
		{"a duration that doesn't fit into its field", port, "shop/op", []Option{Timing(1<<62, time.Minute, time.Second)}, "lease: duration: 1281023h53m38.427387904s: more than 596523h14m7s doesn't fit into a Lease"},
		{"no logger", port, "shop/op", []Option{Logger(nil)}, "lease: nil logger"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := Lease(row.port, row.name, row.opts...)
			require.ErrorContains(t, err, row.want)
			_, err = ForLife(row.port, row.name, row.opts...)
			if strings.HasPrefix(row.want, "lease: duration: ") {
				require.NoError(t, err, "it has no meaning there")
				return
			}
			require.ErrorContains(t, err, "leader for life"+strings.TrimPrefix(row.want, "lease"))
		})
	}
}

func TestIdentity(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	short, _, _ := strings.Cut(host, ".")
	for _, row := range []struct {
		reason, pod string
		opts        []Option
		want        string
	}{
		{"spec watch 32: the name of the Pod", "op-7f9c-x2", nil, "op-7f9c-x2"},
		{"spec watch 32: the host without its domain", "", nil, short},
		{"a name of spaces is none", "  ", nil, short},
		{"one that is given", "op-7f9c-x2", []Option{Identity("me")}, "me"},
		{"an empty one isn't given", "op-7f9c-x2", []Option{Identity(" ")}, "op-7f9c-x2"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Setenv("POD_NAME", row.pod)
			port := newCluster(t).Port()
			first, err := Lease(port, "shop/op", row.opts...)
			require.NoError(t, err)
			second, err := Lease(port, "shop/op", row.opts...)
			require.NoError(t, err)
			assert.Regexp(t, `^\Q`+row.want+`\E_[a-z2-7]{10}$`, first.Identity())
			assert.NotEqual(t, first.Identity(), second.Identity(), "a process that was started again isn't the one before")
			life, err := ForLife(port, "shop/op", row.opts...)
			require.NoError(t, err)
			assert.Equal(t, row.want, life.Identity())
		})
	}
	t.Run("spec watch 32: the namespace of the service account", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "namespace")
		require.NoError(t, os.WriteFile(file, []byte("market\n"), 0o600))
		elector, err := Lease(newCluster(t).Port(), "op", told(file))
		require.NoError(t, err)
		assert.Equal(t, "Lease market/op", elector.lock.String())
	})
	t.Run("a part of a second counts as a whole one", func(t *testing.T) {
		o, err := newOptions([]Option{Timing(10001*time.Millisecond, 0, 0)})
		require.NoError(t, err)
		assert.Equal(t, int64(11), o.seconds())
	})
	for want, given := range map[[3]time.Duration][3]time.Duration{
		{DefaultDuration, DefaultRenewDeadline, DefaultRetryPeriod}: {},
		{3 * time.Second, 2 * time.Second, 400 * time.Millisecond}:  {3 * time.Second, 0, 0},
		{time.Minute, 40 * time.Second, time.Second}:                {time.Minute, 0, time.Second},
		{DefaultDuration, 8 * time.Second, DefaultRetryPeriod}:      {0, 8 * time.Second, 0},
	} {
		o, err := newOptions([]Option{Timing(given[0], given[1], given[2])})
		require.NoError(t, err)
		assert.Equal(t, want, [3]time.Duration{o.duration, o.deadline, o.retry}, "zero is a default that fits to the duration")
	}
}
