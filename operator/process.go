package operator

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/metrics"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/spf13/cobra"
)

// process is what a command runs in: the settings of the process, and where it logs.
type process struct {
	config.Config
	settings *config.Settings
	logger   *slog.Logger
	// manifests is where what is rendered is kept as files, nil for nowhere.
	manifests *manifest.Directory
	// events is where people are told what happens, nil for nowhere.
	events event.Sink
	// metrics count what the process does, nil for nothing.
	metrics *metrics.Metrics
	// instruments see what the process does.
	instruments []Instruments
	// extensions change what controllers do, once they are started (extended).
	extensions []Extension
	extended   bool
}

// open reads the settings for a command, and tells what should be mended in them.
func (o *Operator) open(cmd *cobra.Command, s *config.Settings) (*process, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c, err := s.Load(os.Environ())
	if err != nil {
		return nil, err
	}
	p := &process{Config: c, settings: s, logger: newLogger(cmd.ErrOrStderr(), c.Log)}
	for _, warning := range s.Warnings() {
		p.logger.Warn("settings", "warning", warning)
	}
	return p, nil
}

// openManifests opens the directory for what is rendered, if there is to be one.
func (p *process) openManifests() (err error) {
	if p.Manifests.Directory == "" {
		return nil
	}
	var options []manifest.Option
	if p.Manifests.Disabled {
		options = append(options, manifest.Disabled())
	}
	if p.manifests, err = manifest.Open(p.Manifests.Directory, options...); err != nil {
		return fmt.Errorf("manifests.directory: %w", err)
	}
	return nil
}

func (p *process) closeManifests() {
	if p.manifests != nil {
		_ = p.manifests.Close()
	}
}
