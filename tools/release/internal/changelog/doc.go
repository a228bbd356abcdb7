// Package changelog reads and writes files of the form of keepachangelog.com: a section for each version under a
// heading of the second level, and a section Unreleased for the changes since the last version.
package changelog
