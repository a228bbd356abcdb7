//go:build unix

package program_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/program"
)

// lines answers each line by the number of the call in this process and the line.
const lines = `
n=0
while read -r line; do
	n=$((n+1))
	case "$line" in
	die) echo "no more" >&2; exit 7 ;;
	die-later) echo "$n $line"; exit 0 ;;
	twice) printf '%s\n%s\n' "$n $line" "$n again" ;;
	half) printf "$n"; sleep 60 ;;
	sleep) sleep 60 ;;
	deaf) echo "$n $line"; exec <&-; sleep 60 ;;
	much) yes | tr -d '\n' ;;
	*) echo "$n $line" ;;
	esac
done`

// staying returns a program that stays.
func staying(ctx context.Context, t *testing.T, config program.Config) func(line string) (string, error) {
	t.Helper()
	config.Stays, config.Command = true, shell(lines)
	p, err := program.New(ctx, config)
	require.NoError(t, err)
	return func(line string) (string, error) {
		response, err := p.Call(t.Context(), "", []byte(line))
		return string(response), err
	}
}

func TestStays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, line string
		// want is the response, and err the error.
		want, err string
		// after is the next response.
		after string
	}{
		{"it answers line by line", "a", "1 a", "", "2 z"},
		{"an empty line", "", "1 ", "", "2 z"},
		{"death in the middle", "die", "", "it has ended: exit status 7: no more", "1 z"},
		{"death after an answer", "die-later", "1 die-later", "", "1 z"},
		{"a second answer isn't the answer to the next call, which fails", "twice", "1 twice", "", "1 z"},
		{"one that doesn't read any more", "deaf", "1 deaf", "", "1 z"},
		{"half an answer", "half", "", "no response within 3s", "1 z"},
		{"silence", "sleep", "", "no response within 3s", "1 z"},
		{"an endless line", "much", "", "the response is larger than 65536 bytes", "1 z"},
	} {
		t.Run("hooks 23: "+row.reason, func(t *testing.T) {
			t.Parallel()
			config := program.Config{MaxResponse: 1 << 16}
			if strings.Contains(row.err, "within") {
				config.Timeout = brief
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ask := staying(ctx, t, config)
			got, err := ask(row.line)
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.err)
				_, err = ask("z")
				var rest *program.RestError
				require.ErrorAs(t, err, &rest, "it isn't started again at once")
				assert.Positive(t, rest.RetryAfter)
				require.ErrorContains(t, rest, row.err)
				time.Sleep(rest.RetryAfter)
			}
			assert.Equal(t, row.want, got)
			if row.line == "twice" {
				_, err = ask("z") // both lines came at once
				assert.ErrorContains(t, err, "it has written more than a line for a request")
			}
			require.Eventually(t, func() bool {
				got, err = ask("z")
				return err == nil
			}, 30*time.Second, 10*time.Millisecond)
			assert.Equal(t, row.after, got)
		})
	}
	t.Run("hooks 23: one call at a time in each process", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ask := staying(ctx, t, program.Config{Processes: 2})
		var all sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		for range 20 {
			all.Go(func() {
				got, err := ask("a")
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				seen[got]++
			})
		}
		all.Wait()
		assert.LessOrEqual(t, seen["1 a"], 2, "two processes have answered all: %v", seen)
	})
	t.Run("hooks 23: it is started more and more rarely while it fails", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ask := staying(ctx, t, program.Config{})
		var rests []time.Duration
		for range 3 {
			require.Eventually(t, func() bool {
				_, err := ask("die")
				var rest *program.RestError
				return !assert.Error(t, err) || !isRest(err, &rest)
			}, 30*time.Second, time.Millisecond)
			_, err := ask("a")
			var rest *program.RestError
			require.ErrorAs(t, err, &rest)
			rests = append(rests, rest.RetryAfter)
		}
		assert.Greater(t, rests[2], rests[0])
	})
}

func isRest(err error, rest **program.RestError) bool {
	found, ok := err.(*program.RestError)
	*rest = found
	return ok
}

func TestStayingEnds(t *testing.T) {
	t.Parallel()
	t.Run("hooks 22: it ends with the context of New", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancel(t.Context())
		p, err := program.New(ctx, program.Config{Stays: true, Command: shell("echo $$ > " + file + "; " + lines)})
		require.NoError(t, err)
		_, err = p.Call(t.Context(), "", []byte("a"))
		require.NoError(t, err)
		assert.True(t, runs(t, file))
		cancel()
		assert.Eventually(t, func() bool { return !runs(t, file) }, 30*time.Second, 10*time.Millisecond)
	})
	t.Run("hooks 21: whoever waits for a process waits as long as the caller wants", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := filepath.Join(t.TempDir(), "asked")
		p, err := program.New(ctx, program.Config{Stays: true, Command: shell("read -r line; echo > " + asked + "; sleep 60"), Timeout: brief})
		require.NoError(t, err)
		first := make(chan error)
		go func() {
			_, err := p.Call(t.Context(), "", []byte("sleep"))
			first <- err
		}()
		require.Eventually(t, func() bool {
			_, err := os.Stat(asked)
			return err == nil
		}, brief, time.Millisecond, "the first call has the process")
		soon, cancelSoon := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancelSoon()
		_, err = p.Call(soon, "", []byte("a"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var late *limits.TimeoutError
		require.ErrorAs(t, <-first, &late)
	})
}
