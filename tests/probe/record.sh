#!/bin/sh
# Builds the probe and records the answers of a CUDA driver library.
#     record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME [PART...]]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h. Writes NAME.txt and NAME-PART (default NAME:
# h200-580; parts: main, texture, cluster, formats, graph, rest, peers, planes, procaddr; default: all).
set -eu
record=$(dirname "$0")/../record
. "$record/common.sh"
build probe -Wa,-I,"$here" "$here"/*.c
build table "$here/procaddr/table.c"
into "${3:-}"
name=${4:-h200-580}
parts='main texture cluster formats graph rest peers planes procaddr'
if [ $# -gt 4 ]; then
    shift 4
    parts=$*
fi
header="# What a CUDA driver answers: $device; recorded $today by tests/probe/record.sh. Never edited by hand."
texture='texobject texdesc surfobject texref texrefget texrefrun surfref mipmap texformats surftrap surfmisaligned texbadhandle'
cluster='clusterattr clusterlaunch clusterocc launchattr'
formats='blocks blockcopy blockview planar sampler'
graph='gkernel gcopy gmemset gother gbatch gnode glist gedge gclone gdot gobject gchild gdead ginstantiate
glaunch gexecset genable gexecdead gupdate gupdateparams gmemory gautofree gmemcapture gcond
gcondbody gcondrun capglobal capthread caprelaxed capglobalfar capthreadfar caprelaxedfar capcodes
capends capinfo caporder captograph capmode capevents capdestroy randnodes randcapture randupdate'
rest='greensplit greendesc green greenrun extmem extmap extsem extuse logs logsdead coredump notify
checkwrong checkown checkother sharecreate share sharefork sharepool poolprops poolof poolmanaged
advise rangeattr prefetchbatch copybatch copybatch3d decompress copyrest sparse sparsemip sparsemap
multicast planes im2col im2colwide tensoraddress graphics gl egl vdpau copyrows memopflags asyncfar
sharedwrap'
peers='peervmm peerpool peeralloc'
planes='planarnew planarmip planarmap planardefer planarlayer packedrow planarcopy planartex planarmipmap
planardead planarfreed planareven planarread planarodd packedof'
of() { for group in $1; do "$work/probe" "$library" --group "$group"; done; }
others=$("$work/probe" --list | grep -vxF "$(printf '%s\n' $texture $cluster $formats $graph $rest $peers $planes)")
for part in $parts; do
    case $part in
    main) { echo "$header"; of "$others"; } >"$out/$name.txt" ;;
    texture) { echo "$header"; of "$texture"; } >"$out/$name-texture.txt" ;;
    cluster) { echo "$header"; of "$cluster"; } >"$out/$name-cluster.txt" ;;
    formats) { echo "$header"; of "$formats"; } >"$out/$name-formats.txt" ;;
    graph) { echo "$header"; of "$graph"; } >"$out/$name-graph.txt" ;;
    peers) { echo "$header"; of "$peers"; } >"$out/$name-peers.txt" ;;
    planes) { echo "$header"; of "$planes"; } >"$out/$name-planes.txt" ;;
    rest) { echo "$header"; of "$rest"; } >"$out/$name-rest.txt" ;;
    procaddr)
        { echo "$header"
          printf '# name\tflags\tfirst version\tstatus\tquery result\texported symbols\n'
          "$work/table" "$library" "$here/exports.txt"; } >"$out/$name-procaddr.tsv" ;;
    esac
done
