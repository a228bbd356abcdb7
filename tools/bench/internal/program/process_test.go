package program_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProcess(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		text, wrong string
		ends        bool
	}{
		"one that ends when it is asked to": {"trap 'exit 0' TERM\necho started $1\nwhile :; do sleep 0.01; done", "", false},
		"one that says that it went wrong":  {"trap 'exit 3' TERM\necho started $1\nwhile :; do sleep 0.01; done", "exit status 3", false},
		"one that ends by itself":           {"echo started $1\nexit 0", "ended by itself", true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			p, err := program.Start(t.Context(), "/bin/sh", log, "-c", row.text, "operator", "well")
			require.NoError(t, err)
			if row.ends {
				<-p.Ended()
			} else {
				require.Eventually(t, func() bool { return p.Peak() > 0 }, time.Minute, time.Millisecond, "its memory is looked at")
				memory, err := p.Memory()
				require.NoError(t, err)
				assert.Positive(t, memory)
			}
			require.Eventually(t, func() bool {
				said, err := os.ReadFile(log)
				return err == nil && string(said) == "started well\n"
			}, time.Minute, time.Millisecond)
			took, err := p.Stop()
			if row.wrong == "" {
				require.NoError(t, err)
				assert.Positive(t, took)
				return
			}
			assert.ErrorContains(t, err, row.wrong)
			assert.ErrorContains(t, err, log, "where to look")
		})
	}
	_, err := program.Start(t.Context(), "/no/such/program", filepath.Join(t.TempDir(), "log"))
	assert.ErrorContains(t, err, "/no/such/program")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	before, err := program.CPU(os.Getpid())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		for range 1_000_000 {
			_ = before
		}
		now, err := program.CPU(os.Getpid())
		return err == nil && now > before
	}, time.Minute, time.Nanosecond, "work is counted")
	first, err := program.Memory(os.Getpid())
	require.NoError(t, err)
	// Not from Go's heap, which may take a block that it had, or give one back meanwhile.
	block, err := syscall.Mmap(-1, 0, 64<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { assert.NoError(t, syscall.Munmap(block)) }()
	for i := range block {
		block[i] = 1
	}
	second, err := program.Memory(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, second, first+32<<20)
	_, err = program.CPU(1 << 30)
	assert.Error(t, err)
	_, err = program.Memory(1 << 30)
	assert.Error(t, err)
}
