# Draws docs/figures/h200.png from the figures in bench/README.md:  gnuplot docs/figures/h200.gnuplot
set terminal pngcairo size 1280,560 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set output 'docs/figures/h200.png'
$figures << EOD
"tf32"                   5.50  6.89  78.8  99.6
"bf16,\nfloat32 logits"  5.66 13.80  45.5  99.6
"bf16,\nbf16 logits"     9.91 14.05  77.4  99.8
"link-bound\nmodel"      6.47 38.92  16.5  99.2
EOD
set style data histograms
set style histogram clustered gap 1.2
set style fill solid noborder
set boxwidth 0.92
set border 1 lc rgb '#808080'
set tics nomirror scale 0 tc rgb '#202020'
set grid ytics lt 1 lc rgb '#e4e4e4'
set xrange [-0.6:3.6]
set key at graph 0.02,0.97 left top reverse Left
set bmargin 4
set multiplot layout 1,2 title "64×3×512×512 images, every output byte read; DeepLabV3-ResNet50, and a model that costs next to nothing (link-bound); one H200" font 'DejaVu Sans,14'
peer = '#b9b9b9'
ours = '#1f6f8b'
set title 'batches per second'
set yrange [0:46]
plot $figures using 2:xtic(1) title 'PyTorch design' lc rgb peer, '' using 3 title 'Tailrace' lc rgb ours, \
     '' using ($0-0.23):2:(sprintf('%.1f',$2)) with labels offset 0,0.7 notitle, \
     '' using ($0+0.23):3:(sprintf('%.1f',$3)) with labels offset 0,0.7 notitle
set title 'GPU busy, % (link-bound model: of what the link carries)'
set yrange [0:132]
set ytics 0,20,100
plot $figures using 4:xtic(1) title 'PyTorch design' lc rgb peer, '' using 5 title 'Tailrace' lc rgb ours, \
     '' using ($0-0.23):4:(sprintf('%.1f',$4)) with labels offset 0,0.7 notitle, \
     '' using ($0+0.23):5:(sprintf('%.1f',$5)) with labels offset 0,0.7 notitle
unset multiplot
