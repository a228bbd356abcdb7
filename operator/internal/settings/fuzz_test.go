package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzFile reads whatever is in a file: it is refused or understood, and what is understood says the same when it is written
// down and read again.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "# nothing", "log: {level: debug}\nwatch:\n  namespaces: [a, 'b-*']\n  period: 1hr\n", "log: &log {level: *log}", "a: &a [*a]", "? [a]\n: b\n",
		"versions: {supported: ['', 'a,b', \"a\\nb\"], operator: 1.10}", "watch.workers: 3\nwatch: {workers: 4}", "log: {level: !!binary aW5mbw==}", "- 1", "\x00", "<<: {log: {level: info}}",
		"leader-election: {name: \"a # b\"}", "leader-election: {name: |\n  a\n  b\n}", "heartbeat:\n  file: \"\\u0007\"\n", "controllers: []\nlog.filters: ['a:b']",
		"leader-election: {lock: none}", "leader-election: {lock: for-life, renew-deadline: 1m}", "leader-election: {lock: per-object, retry-period: 1s}",
	} {
		f.Add([]byte(seed))
	}
	read := func(t *testing.T, content []byte) (*Settings, error) {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		s := New("a", Options{})
		_, err := s.Load([]string{"A_CONFIG=" + path})
		return s, err
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := read(t, content)
		if err != nil {
			return
		}
		written, err := Document(s.All())
		require.NoError(t, err)
		again, err := read(t, written)
		require.NoError(t, err, "%s", written)
		before, after := s.All(), again.All()
		for i := range before {
			before[i].Origin, after[i].Origin = Origin{}, Origin{}
			if len(before[i].Items) == 0 {
				before[i].Items, after[i].Items = nil, nil
			}
		}
		require.Equal(t, before, after)
	})
}
