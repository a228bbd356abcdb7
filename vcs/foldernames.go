package vcs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// lockOf is the file that stands for the lock of a folder.
func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+shortened(filepath.Base(path))+".lock")
}

const (
	// temporaryMark is between the name of a folder and what tells its temporary folders from each other: some letters by chance, or oldEnd.
	temporaryMark    = ".tmp-"
	temporaryLetters = 12
	oldEnd           = "old"
)

// temporary is how the names begin of folders in which the one of a path is made.
func temporary(path string) string { return "." + shortened(filepath.Base(path)) + temporaryMark }

// beside is where there may be a temporary folder of a path: nobody else has that name.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), temporary(path)+rand.Text()[:temporaryLetters])
}

// replaced is where a folder is while another one takes its place.
func replaced(destination string) string {
	return filepath.Join(filepath.Dir(destination), temporary(destination)+oldEnd)
}

// temporaryOf tells of a name whether it is that of a temporary folder, and whose, by its shortened name. It may be that of another folder's lock, or of a
// temporary folder of that, which only looks alike: a folder may be called web, and another one web.tmp-1.
func temporaryOf(name string) (of string, is bool) {
	at := strings.LastIndex(name, temporaryMark)
	if at < len(".x") || name[0] != '.' {
		return "", false
	}
	end := name[at+len(temporaryMark):]
	if end != oldEnd && (len(end) != temporaryLetters || strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "") {
		return "", false
	}
	return name[1:at], true
}

// shortened is a name to which all can be added that the names of locks and temporary folders have besides: a long one's beginning, with its sum.
func shortened(name string) string {
	const most = longestName - len(".") - len(temporaryMark) - temporaryLetters
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "~" + hex.EncodeToString(sum[:16])
	return strings.ToValidUTF8(name[:most-len(end)], "") + end
}
