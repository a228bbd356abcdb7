package controlplane

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// folder is where a control plane lives while it is used.
type folder struct {
	path string
	// claim is locked while the folder is ours; nil for one that no other run would want.
	claim *os.File
}

// claimFolder gives the folder that every run of this repository with this program uses, so that the go command sees
// the same environment again and may take results that it knows; while another run has it, one of its own.
func claimFolder(root, program string) (folder, error) {
	cache := filepath.Join(root, ".cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return folder{}, fmt.Errorf("control plane: %w", err)
	}
	claim, err := lock(filepath.Join(cache, "controlplane.lock"))
	if err != nil {
		return folder{}, fmt.Errorf("control plane: %w", err)
	}
	if claim == nil {
		own, err := os.MkdirTemp(shortTemp(), "operkit-")
		if err != nil {
			return folder{}, fmt.Errorf("control plane: %w", err)
		}
		return folder{path: own}, nil
	}
	sum := sha256.Sum256([]byte(root + "\x00" + program))
	claimed := folder{filepath.Join(shortTemp(), fmt.Sprintf("operkit-%x", sum[:6])), claim}
	if err := errors.Join(os.RemoveAll(claimed.path), os.Mkdir(claimed.path, 0o700)); err != nil {
		return folder{}, errors.Join(fmt.Errorf("control plane: %w", err), claimed.remove())
	}
	return claimed, nil
}

// remove removes the folder and lets another run have its name.
func (f folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.claim != nil {
		err = errors.Join(err, f.claim.Close())
	}
	return err
}

// shortTemp is a folder for temporary files whose path leaves room for those of unix sockets, which may have 107 bytes.
func shortTemp() string {
	const longest = 40
	if dir := os.TempDir(); len(dir) <= longest {
		return dir
	}
	return filepath.FromSlash("/tmp")
}
